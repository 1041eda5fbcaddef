"""Values of fields as sorted hashes in memory-mapped files, to find conditions in a question.

Each value is reduced to its folded words (`name_words`) and these to one hash, so that spans of a question are found by
binary search, however many values there are. Values that are lists of places (`Umeå, Sweden`) are also found by their
parts. A field of yes and no is found by its own name. `value_fields` decides which values are in the index.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters import spelling_memmap
from search.adapters.name_words import Folded, folded_tokens, folder_of, words_of
from search.adapters.spelling_memmap import Spellings, correctable
from search.adapters.string_table import StringTable
from search.domain.graph import Schema
from search.interfaces import ValueMention
from search.language.common import common_words
from search.language.words import FUNCTION_WORDS
from search.text import words as split_identifier

MANIFEST = "values.json"
MOST_VALUE_WORDS = 10
"""Most words of a value in the index."""
PART, YES, NUMBER = 1, 2, 4
"""Flags of a row: a part of a longer value; a field of yes and no, found by its name; a number."""
_INFLECTED, _MISSPELT, _PARTIAL = 0.95, 0.8, 0.8
"""Similarity of a value in another inflection, of a misspelt one, and of a part of one. Chosen by hand."""
_BETWEEN = frozenset(("is", "are", "was", "of", "the", "a", "an", "number", "in", "at", "on", "be", "being"))
"""Words that may stand between the name of a field and its value: *the chromosome is 17*."""


def code_of(folds: Sequence[str]) -> int:
    """Return the hash of folded words; spaces do not count, so that `open-access` and `openaccess` are equal."""
    return int.from_bytes(hashlib.blake2b("".join(folds).encode(), digest_size=8).digest(), "little")


def field_words(name: str, fold: Callable[[str], str]) -> tuple[str, ...]:
    """Return the folded words of a field's name, without the verb of a field of yes and no (`is_open_access`)."""
    found = tuple(fold(word) for word in words_of(split_identifier(name)))
    return found[1:] if len(found) > 1 and found[0] in {"is", "has", "can", "are", "was"} else found


@dataclass(frozen=True)
class _Hit:
    """A span of tokens with the row of a value, and how similar the span is to the value."""

    first: int
    last: int
    row: int
    similarity: float


@dataclass(frozen=True)
class MemmapValues:
    """The files that `value_fields.build` wrote, opened on first use; threads share them, they are read-only.

    Without files it finds nothing: the release was indexed before there were any.
    """

    directory: Path
    schema: Schema

    def find(self, text: str) -> list[ValueMention]:
        """Return every stretch of whole words that is a value of a field, longest first, then most frequent first.

        Numbers, single letters and function words count only beside the name of their field.
        """
        if not self._there:
            return []
        tokens = folded_tokens(text, self._fold)
        hits = self._typed(tokens)
        hits += self._mended(tokens, {(hit.first, hit.last) for hit in hits})
        found = (self._mention(text, tokens, hit) for hit in hits)
        kept = [mention for mention in found if mention is not None]
        return sorted(kept, key=lambda m: (m.start - m.end, m.start, -m.similarity, -m.nodes, m.node_type, m.field))

    def _typed(self, tokens: list[Folded]) -> list[_Hit]:
        spans = [
            (first, last, code_of([fold for token in tokens[first : last + 1] for fold in token.folds]))
            for first in range(len(tokens))
            for last in range(first, min(len(tokens), first + self._longest))
            if tokens[first].folds and tokens[last].folds
        ]
        return [
            _Hit(first, last, row, self._alike(tokens, first, last, row)) for first, last, row in self._rows_of(spans)
        ]

    def _mended(self, tokens: list[Folded], known: set[tuple[int, int]]) -> list[_Hit]:
        """Return the hits of spans in which misspelt words are corrected."""
        mended = {at: close for at, token in enumerate(tokens) if (close := self._close(token))}
        spans = []
        for at in mended:
            for first in range(max(0, at - self._longest + 1), at + 1):
                for last in range(at, min(len(tokens), first + self._longest)):
                    if (first, last) in known or not (tokens[first].folds and tokens[last].folds):
                        continue
                    for folds in _variants(tokens, first, last, mended):
                        spans.append((first, last, code_of(folds)))
        return [_Hit(first, last, row, _MISSPELT) for first, last, row in dict.fromkeys(self._rows_of(spans))]

    def _rows_of(self, spans: list[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
        """Yield (first token, last token, row) for every row with the hash of a span."""
        if not spans or not len(self._hashes):
            return
        wanted = np.array([code for _, _, code in spans], dtype=np.uint64)
        begins = np.searchsorted(self._hashes, wanted, side="left")
        ends = np.searchsorted(self._hashes, wanted, side="right")
        for at in np.flatnonzero(ends > begins).tolist():
            first, last, _ = spans[at]
            for row in range(int(begins[at]), int(ends[at])):
                yield first, last, row

    def _alike(self, tokens: list[Folded], first: int, last: int, row: int) -> float:
        said = tuple(word for token in tokens[first : last + 1] for word in token.words)
        same = said == words_of(self._phrases[row])
        return (1.0 if same else _INFLECTED) * (_PARTIAL if self._flags[row] & PART else 1.0)

    def _close(self, token: Folded) -> list[str]:
        """Return the known words near to a misspelt one; a word that is known or common is not misspelt."""
        if len(token.folds) != 1 or not correctable(token.folds[0]) or token.words[0] in self._common:
            return []
        word = token.folds[0]
        if self._words.find(word) is not None:
            return []
        return [self._words[place] for place, _ in self._spellings.close(word, most=2)]

    def _mention(self, text: str, tokens: list[Folded], hit: _Hit) -> ValueMention | None:
        flags = int(self._flags[hit.row])
        owner = self._fields[int(self._owners[hit.row])]
        first, last, named = hit.first, hit.last, bool(flags & YES)
        if not named:
            first, last = self._with_field(tokens, first, last, tuple(owner["words"]))
            named = (first, last) != (hit.first, hit.last)
        stored = json.loads(self._values[hit.row])
        start, end = tokens[first].start, tokens[last].end
        if not named and not _speaks(text[start:end], str(stored), flags):
            return None
        return ValueMention(
            start, end, text[start:end], owner["type"], owner["field"], stored, hit.similarity,
            int(self._nodes[hit.row]), named, "contains" if flags & PART else "=",
        )  # fmt: skip

    def _with_field(self, tokens: list[Folded], first: int, last: int, name: tuple[str, ...]) -> tuple[int, int]:
        """Return the span, widened by the name of the field beside it: *chromosome 17*, *17th chromosome*."""
        for wording in (name, name[-1:]) if len(name) > 1 and len(name[-1]) > 3 else (name,):
            before = first
            for _ in range(3):
                if _folds(tokens, before - len(wording), before) == wording:
                    return before - len(wording), last
                if not (before and tokens[before - 1].words[0] in _BETWEEN):
                    break
                before -= 1
            if _folds(tokens, last + 1, last + 1 + len(wording)) == wording:
                return first, last + len(wording)
        return first, last

    @cached_property
    def _there(self) -> bool:
        return (self.directory / MANIFEST).is_file()

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        return json.loads((self.directory / MANIFEST).read_text())

    @cached_property
    def _fields(self) -> list[dict[str, Any]]:
        return self._manifest["fields"]

    @cached_property
    def _longest(self) -> int:
        return int(self._manifest["longest"])

    @cached_property
    def _fold(self) -> Callable[[str], str]:
        return folder_of(self._manifest["language"])

    @cached_property
    def _common(self) -> frozenset[str]:
        return common_words(self._manifest["language"])

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        return self._array("hashes")

    @cached_property
    def _owners(self) -> NDArray[np.int32]:
        return self._array("owners")

    @cached_property
    def _nodes(self) -> NDArray[np.int32]:
        return self._array("nodes")

    @cached_property
    def _flags(self) -> NDArray[np.uint8]:
        return self._array("flags")

    def _array(self, name: str) -> NDArray[Any]:
        return np.load(self.directory / f"{name}.npy", mmap_mode="r").view(np.ndarray)

    @cached_property
    def _values(self) -> StringTable:
        """The stored value of each row, as JSON."""
        return StringTable.open(self.directory / "values")

    @cached_property
    def _phrases(self) -> StringTable:
        """The words by which each row is found."""
        return StringTable.open(self.directory / "phrases")

    @cached_property
    def _words(self) -> StringTable:
        return StringTable.open(self.directory / "words")

    @cached_property
    def _spellings(self) -> Spellings:
        return Spellings(self.directory, self._words)


def _folds(tokens: list[Folded], first: int, last: int) -> tuple[str, ...] | None:
    """Return the folded words of the tokens in [first, last), or None if there are not as many tokens."""
    if first < 0 or last > len(tokens) or first >= last:
        return None
    return tuple(fold for token in tokens[first:last] for fold in token.folds)


def _variants(tokens: list[Folded], first: int, last: int, mended: dict[int, list[str]]) -> Iterator[list[str]]:
    """Yield the folded words of a span with every choice of its corrections; each word has at most two."""
    choices: list[list[str]] = [[]]
    for at in range(first, last + 1):
        options = [[word] for word in mended[at]] if at in mended else [list(tokens[at].folds)]
        choices = [[*choice, *option] for choice in choices for option in options][:8]
    yield from choices


def _speaks(said: str, stored: str, flags: int) -> bool:
    """Whether a stretch says a value without the name of its field beside it.

    Numbers do not; function words and one or two letters do only if their case is that of the value and has a capital.
    """
    if flags & NUMBER or not any(letter.isalpha() for letter in said):
        return False
    if len(said) <= 2 or said.casefold() in FUNCTION_WORDS:
        return said == stored and said[0].isupper() and len(said) <= 4
    return True


def build_words(directory: Path, words: Sequence[str]) -> None:
    """Write the index of the words of values, for corrections; `words` are sorted bytewise."""
    spelling_memmap.build(directory, words)
