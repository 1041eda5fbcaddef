"""Writes the index of all documents and of each field."""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.adapters.string_table import write_strings
from search.adapters.text_bm25.analyzer import Analyzer, Codes
from search.adapters.text_bm25.corpus import Corpus


@dataclass(frozen=True, slots=True)
class Document:
    """The document of a node: all that is here.

    `fields` and `names` can also be searched on their own, by their keys: the text of a field, and the nodes whose
    names are its text.
    """

    text: str
    fields: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, Sequence[int]] = field(default_factory=dict)


def build(
    directory: Path,
    documents: Iterable[Document],
    types: NDArray[np.int16],
    language: str = "en",
    names: Iterable[str] = (),
    computed: Callable[[float], None] = lambda share: None,
) -> None:
    """Write the index of the documents, one for each node in the order of keys, into `directory`.

    `names` are those of the nodes by key, if documents have any: each is split into words once, not once for each
    neighbour. The index of a field covers the nodes that have it. After all documents have been read, `computed`
    receives the share of the scores that has been computed, again and again; the exception that it raises ends all.
    """
    codes = Codes(Analyzer(language))
    of_names = _Names(names, codes)
    whole, fields = Corpus(directory / "whole.words"), dict[str, Corpus]()
    for key, document in enumerate(documents):
        own = {name: codes.of(text) for name, text in document.fields.items()}
        own |= {name: of_names.of(keys) for name, keys in document.names.items()}
        every = codes.of(document.text)
        for name, found in own.items():
            every += found
            if name not in fields:
                fields[name] = Corpus(directory / f"{len(fields)}.words")
            fields[name].add(key, found)
        whole.add(key, every)
    vocabulary = sorted(codes.stems, key=str.encode)
    places = np.empty(len(vocabulary), dtype=np.int32)
    places[[codes.stems[stem] for stem in vocabulary]] = np.arange(len(vocabulary), dtype=np.int32)
    write_strings(directory / "vocabulary", vocabulary)
    np.save(directory / "types.npy", np.asarray(types, dtype=np.int16))
    corpora = {"whole": whole} | {f"field-{place}": fields[name] for place, name in enumerate(sorted(fields))}
    written = {folder: corpus for folder, corpus in corpora.items() if corpus.words}
    # Each word is sorted into a run, and merged.
    steps, done = 2 * sum(corpus.words for corpus in written.values()), 0

    def told(words: int) -> None:
        nonlocal done
        done += words
        computed(done / steps)

    for folder, corpus in written.items():
        (directory / folder).mkdir()
        corpus.write(directory / folder, places, told)
    named = {name: f"field-{place}" for place, name in enumerate(sorted(fields)) if f"field-{place}" in written}
    manifest = {"language": language, "whole": "whole" in written, "fields": named}
    (directory / "bm25.json").write_text(json.dumps(manifest, ensure_ascii=False))


class _Names:
    """The codes of the words of all names, one name after the other."""

    def __init__(self, names: Iterable[str], codes: Codes) -> None:
        self._codes, self._starts = array("i"), array("q", [0])
        for name in names:
            self._codes.extend(codes.of(name))
            self._starts.append(len(self._codes))

    def of(self, keys: Sequence[int]) -> list[int]:
        """Return the codes of the words of several names."""
        found: list[int] = []
        for key in keys:
            found += self._codes[self._starts[key] : self._starts[key + 1]]
        return found
