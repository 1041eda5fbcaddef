"""Writes the index of near names from the files of the exact names, which are read one after the other."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.adapters import spelling_memmap
from search.adapters.name_words import folded_tokens, folder_of
from search.adapters.near_names import cognates
from search.adapters.near_names.files import MANIFEST
from search.adapters.near_names.forms import code_of, folds_in, forms
from search.adapters.string_table import StringTable, write_strings

NAMES_BETWEEN = 10_000
"""Names between two reports of progress."""


def build(
    directory: Path, mentions: Path, language: str = "en", told: Callable[[int], None] = lambda names: None
) -> None:
    """Write the index into the existing folder `directory`; `mentions` is the folder of the exact names.

    Names with the same normalised words are one name here. `told` is called with numbers of further names that have
    been read; the exception that it raises ends the work.
    """
    hashes = np.load(mentions / "hashes.npy", mmap_mode="r")
    names = StringTable.open(mentions / "names")
    first = np.flatnonzero(np.concatenate(([True], hashes[1:] != hashes[:-1]))) if len(hashes) else np.empty(0, int)
    np.save(directory / "rows.npy", np.append(first, len(hashes)).astype(np.int32))
    fold = folder_of(language)
    code_by_word: dict[str, int] = {}
    sequence, starts = array("i"), array("q", [0])
    form_codes, form_names, form_kinds = array("Q"), array("i"), array("B")
    for at, row in enumerate(first.tolist()):
        name = names[row]
        tokens = folded_tokens(name, fold)
        sequence.extend([code_by_word.setdefault(word, len(code_by_word)) for word in folds_in(tokens)])
        starts.append(len(sequence))
        for kind, key in dict.fromkeys(forms(name, tokens, fold)):
            form_codes.append(code_of(key))
            form_names.append(at)
            form_kinds.append(kind)
        if at % NAMES_BETWEEN == NAMES_BETWEEN - 1:
            told(NAMES_BETWEEN)
    _write_forms(directory, form_codes, form_names, form_kinds)
    places = _write_words(directory, code_by_word)
    _write_sequences(directory, places, sequence, starts)
    (directory / MANIFEST).write_text(json.dumps({"language": language}))


def _write_forms(directory: Path, codes: array[int], names: array[int], kinds: array[int]) -> None:
    code = np.frombuffer(codes, dtype=np.uint64)
    order = np.argsort(code, kind="stable")
    np.save(directory / "forms.hashes.npy", code[order])
    np.save(directory / "forms.names.npy", np.frombuffer(names, dtype=np.int32)[order])
    np.save(directory / "forms.kinds.npy", np.frombuffer(kinds, dtype=np.uint8)[order])


def _write_words(directory: Path, code_by_word: dict[str, int]) -> NDArray[np.int32]:
    """Write the words in the order of their hashes, and their spelling index; return first code → place."""
    words = list(code_by_word)
    hashes = np.array([code_of(word) for word in words], dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    np.save(directory / "words.hashes.npy", hashes[order])
    write_strings(directory / "words", (words[at] for at in order.tolist()))
    table = StringTable.open(directory / "words")
    spelling_memmap.build(directory, table)
    cognates.build(directory, table)
    places = np.empty(len(words), dtype=np.int32)
    places[order] = np.arange(len(words), dtype=np.int32)
    return places


def _write_sequences(directory: Path, places: NDArray[np.int32], sequence: array[int], starts: array[int]) -> None:
    """Write the words of each name, and for each word the names that have it, both in compressed rows."""
    words = places[np.frombuffer(sequence, dtype=np.int32)] if len(sequence) else np.empty(0, dtype=np.int32)
    begins = np.frombuffer(starts, dtype=np.int64)
    np.save(directory / "sequence.npy", words)
    np.save(directory / "sequence.starts.npy", begins)
    owners = np.repeat(np.arange(len(begins) - 1, dtype=np.int32), np.diff(begins))
    order = np.argsort(words, kind="stable")
    words, owners = words[order], owners[order]
    again = np.zeros(len(words), dtype=bool)
    again[1:] = (words[1:] == words[:-1]) & (owners[1:] == owners[:-1])
    np.save(directory / "postings.npy", owners[~again])
    counts = np.bincount(words[~again], minlength=len(places)) if len(words) else np.zeros(len(places), dtype=np.int64)
    np.save(directory / "postings.starts.npy", np.concatenate(([0], np.cumsum(counts))).astype(np.int64))
