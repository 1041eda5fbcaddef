"""Names and aliases of a release as sorted hashes in memory-mapped files, to find mentions in a question.

A name is reduced to its words (see `words_of`), and its words to one 64-bit hash. Spans of a question are hashed in the
same way and found by binary search, so that a look-up takes about the same time for a hundred names and for millions.
The original spellings are stored beside the hashes, to check whether upper and lower case agree.
"""

from __future__ import annotations

import hashlib
import json
import time
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from search.adapters.name_words import QUOTED, NameToken, name_words, symbol_tokens, tokens_of
from search.adapters.near_names import NearNames
from search.adapters.near_names.files import NearFiles
from search.adapters.string_table import StringTable, StringWriter, write_strings
from search.interfaces import Mention

MOST_NAME_WORDS = 40
"""Most words of a name in the index: nobody types longer names, and each length costs one look-up per word."""
NAMES_AT_ONCE = 10_000
"""Names that are read at once while the index is written."""
_ALIKE = 0.75
"""Least similarity (1 - normalised OSA distance) of a known word to a misspelt one."""
_SHORTEST_MENDED = 4
"""Fewest characters of a word that is corrected."""
_MENDINGS = 3
"""Most corrections of one word that are tried."""


def build(directory: Path, names: Iterable[tuple[int, str, bool]]) -> None:
    """Write the index of (key, name or alias, is alias) into the existing folder `directory`.

    Names with more than `MOST_NAME_WORDS` words are left out. A name of symbols alone is one word.
    """
    hashes, keys, aliases = array("Q"), array("i"), array("b")
    vocabulary: set[str] = set()
    longest = 0
    with StringWriter(directory / "unsorted") as spellings:
        for key, name, is_alias in names:
            words = name_words(name)
            if not 0 < len(words) <= MOST_NAME_WORDS:
                continue
            longest = max(longest, len(words))
            vocabulary.update(words)
            hashes.append(_hash(words))
            keys.append(key)
            aliases.append(is_alias)
            spellings.add(name)
    code, key_of, alias = np.array(hashes), np.array(keys), np.array(aliases, dtype=bool)
    order = np.lexsort((key_of, alias, code))
    np.save(directory / "hashes.npy", code[order])
    np.save(directory / "keys.npy", key_of[order])
    np.save(directory / "alias.npy", alias[order])
    unsorted = StringTable.open(directory / "unsorted")
    write_strings(directory / "names", (name for block in _blocks(order) for name in unsorted.many(block)))
    for path in directory.glob("unsorted.*"):
        path.unlink()
    _write_vocabulary(directory, vocabulary)
    (directory / "mentions.json").write_text(json.dumps({"longest": longest}))


def _blocks(order: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    return (order[first : first + NAMES_AT_ONCE] for first in range(0, len(order), NAMES_AT_ONCE))


def _hash(words: tuple[str, ...]) -> int:
    return int.from_bytes(hashlib.blake2b(" ".join(words).encode(), digest_size=8).digest(), "little")


def _write_vocabulary(directory: Path, vocabulary: set[str]) -> None:
    """Write all words, grouped by first letter and length, so that words similar to a typo are in few groups."""
    known = sorted((word for word in vocabulary), key=lambda word: (word[0], len(word), word))
    write_strings(directory / "words", known)
    blocks: dict[str, list[int]] = {}
    for at, word in enumerate(known):
        blocks.setdefault(f"{word[0]}{len(word)}", [at, at])[1] = at + 1
    (directory / "words.json").write_text(json.dumps(blocks))
    np.save(directory / "words.hashes.npy", np.sort(np.array([_hash((word,)) for word in known], dtype=np.uint64)))


def _open(path: Path) -> NDArray[Any]:
    array: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    return array.view(np.ndarray)


@dataclass(frozen=True)
class MemmapMentions:
    """The files that `build` wrote, opened on first use; threads share them, they are read-only.

    `near` is the folder of the near names. A release that was indexed before there were any lacks it: then single
    misspelt words are corrected by comparing them with all words, for at most `mend_seconds` a question.
    """

    directory: Path
    mend_seconds: float = 0.02
    near: Path | None = None

    def find(self, text: str) -> list[Mention]:
        """Return every span of whole words that is a name or alias, overlapping ones included, longest first.

        Names that the text says in another way follow in the same order (`near_names`).
        """
        tokens = [token for token in tokens_of(text) if token.words]
        found = self._matches(text, tokens, {})
        if self._near is not None:
            found += self._near.find(text, found)
        elif mended := self._mended(text, tokens, found):
            known = {(mention.start, mention.end) for mention in found}
            found += [m for m in self._matches(text, tokens, mended) if (m.start, m.end) not in known]
        for symbols in symbol_tokens(text):
            found += self._matches(text, [symbols], {})
        return sorted(found, key=lambda mention: (mention.start - mention.end, mention.start))

    def lookup(self, name: str) -> tuple[int, ...]:
        """Return the keys of the nodes with a name or alias that has the same normalised words as `name`."""
        words = name_words(name)
        return tuple(dict.fromkeys(key for key, _ in self._rows(words))) if words else ()

    def translated(self, text: str, start: int, end: int) -> list[Mention]:
        """Return names whose words are nearly those of a stretch of the text; see the protocol."""
        return self._near.translated(text, start, end) if self._near is not None else []

    def ending(self, text: str, start: int, end: int) -> list[Mention]:
        """Return the names that end with a word of the text; see the protocol."""
        return self._near.ending(text, start, end) if self._near is not None else []

    def misspelt(self, name: str) -> list[Mention]:
        """Return the names of which a name may be a misspelling; see the protocol."""
        return self._near.misspelt(name) if self._near is not None else []

    def _matches(self, text: str, tokens: list[NameToken], mended: dict[int, list[str]]) -> list[Mention]:
        """Return the mentions among all spans; with `mended`, only spans in which one word is replaced by a correction.

        `mended` maps the index of a token to its corrections.
        """
        codes: list[int] = []
        stretches: list[tuple[int, int, tuple[str, ...]]] = []
        for first, last in self._spans(tokens, mended):
            for words in _readings(tokens, first, last, mended):
                codes.append(_hash(words))
                stretches.append((first, last, words))
        if not codes:
            return []
        wanted = np.array(codes, dtype=np.uint64)
        at = np.searchsorted(self._hashes, wanted)
        hits = np.flatnonzero(
            (at < len(self._hashes)) & (self._hashes[np.minimum(at, len(self._hashes) - 1)] == wanted)
        )
        mentions = (self._mention(text, tokens, *stretches[hit], row=int(at[hit])) for hit in hits)
        return [mention for mention in mentions if mention is not None]

    def _spans(self, tokens: list[NameToken], mended: dict[int, list[str]]) -> Iterator[tuple[int, int]]:
        """Yield first and last token of every span in which each word occurs in some name or has a correction."""
        known = [at in mended for at in range(len(tokens))]
        known = [one or other for one, other in zip(known, self._known(tokens), strict=True)]
        for first in range(len(tokens)):
            width = 0
            for last in range(first, len(tokens)):
                width += len(tokens[last].words)
                if width > self._longest or not known[last]:
                    break
                if not mended or any(at in mended for at in range(first, last + 1)):
                    yield first, last

    def _mention(
        self, text: str, tokens: list[NameToken], first: int, last: int, words: tuple[str, ...], row: int
    ) -> Mention | None:
        rows = self._rows(words, row)
        if not rows:
            return None
        start, end = tokens[first].start, tokens[last].end
        agreeing = {name: _agrees(text, start, end, name) for name in {name for _, name in rows}}
        exact: dict[int, bool] = dict.fromkeys((key for key, _ in rows), all(agreeing.values()))
        for key, name in rows if len(agreeing) > 1 else ():
            exact[key] = exact.get(key, False) or agreeing[name]
        asked = tuple(word for token in tokens[first : last + 1] for word in token.words)
        similarity = 1.0 if asked == words else OSA.normalized_similarity(" ".join(asked), " ".join(words))
        return Mention(start, end, text[start:end], tuple(exact), tuple(exact.values()), similarity)

    def _rows(self, words: tuple[str, ...], row: int | None = None) -> list[tuple[int, str]]:
        """Return key and spelling of each name with these words; the words are compared because hashes may collide.

        Thousands of nodes with one spelling are compared at once.
        """
        code = np.uint64(_hash(words))
        first = int(np.searchsorted(self._hashes, code)) if row is None else row
        last = int(np.searchsorted(self._hashes, code, side="right"))
        names = self._names.stretch(first, last)
        spellings = set(names)
        fitting = {name for name in spellings if name_words(name) == words}
        keys: list[int] = self._keys[first:last].tolist()
        if len(fitting) == len(spellings):
            return list(zip(keys, names, strict=True))
        return [(key, name) for key, name in zip(keys, names, strict=True) if name in fitting]

    def _mended(self, text: str, tokens: list[NameToken], found: list[Mention]) -> dict[int, list[str]]:
        """Return token index → corrections for each unknown word outside all mentions that seems part of a name."""
        ends = time.monotonic() + self.mend_seconds
        quoted = [match.span() for match in QUOTED.finditer(text)]
        mended: dict[int, list[str]] = {}
        for at, (token, known) in enumerate(zip(tokens, self._known(tokens), strict=True)):
            if time.monotonic() >= ends:
                break
            if len(token.words) != 1 or len(token.words[0]) < _SHORTEST_MENDED or token.words[0].isdigit():
                continue
            named = any(first <= token.start < last for first, last in quoted) or _in_name(text, tokens, at)
            if named and not known and not any(m.start <= token.start < m.end for m in found):
                close = self._close(token.words[0])
                if close:
                    mended[at] = close
        return mended

    def _known(self, tokens: list[NameToken]) -> list[bool]:
        """Return for each token whether all its words occur in names."""
        if not len(self._vocabulary):
            return [False] * len(tokens)
        codes = np.array([_hash((word,)) for token in tokens for word in token.words], dtype=np.uint64)
        at = np.minimum(np.searchsorted(self._vocabulary, codes), len(self._vocabulary) - 1)
        hits = self._vocabulary[at] == codes
        ends = np.cumsum([len(token.words) for token in tokens]).tolist()
        return [bool(hits[end - len(token.words) : end].all()) for token, end in zip(tokens, ends, strict=True)]

    def _close(self, word: str) -> list[str]:
        words: list[str] = []
        for length in range(max(1, len(word) - 2), len(word) + 3):
            first, last = self._blocks.get(f"{word[0]}{length}", (0, 0))
            words += [self._words[at] for at in range(first, last)]
        scorer = OSA.normalized_similarity
        best = process.extract(word, words, scorer=scorer, limit=_MENDINGS, score_cutoff=_ALIKE)
        return [choice for choice, _, _ in best]

    @cached_property
    def _near(self) -> NearNames | None:
        files = NearFiles(self.near, self.directory) if self.near is not None else None
        return NearNames(files) if files is not None and files.there else None

    @cached_property
    def _hashes(self) -> NDArray[np.uint64]:
        return _open(self.directory / "hashes.npy")

    @cached_property
    def _keys(self) -> NDArray[np.int32]:
        return _open(self.directory / "keys.npy")

    @cached_property
    def _names(self) -> StringTable:
        return StringTable.open(self.directory / "names")

    @cached_property
    def _words(self) -> StringTable:
        return StringTable.open(self.directory / "words")

    @cached_property
    def _blocks(self) -> dict[str, tuple[int, int]]:
        blocks: dict[str, tuple[int, int]] = json.loads((self.directory / "words.json").read_text())
        return blocks

    @cached_property
    def _vocabulary(self) -> NDArray[np.uint64]:
        return _open(self.directory / "words.hashes.npy")

    @cached_property
    def _longest(self) -> int:
        return int(json.loads((self.directory / "mentions.json").read_text())["longest"])


def _readings(
    tokens: list[NameToken], first: int, last: int, mended: dict[int, list[str]]
) -> Iterator[tuple[str, ...]]:
    """Yield the words of a span as typed; if there are corrections, yield one variant for each of them instead."""
    typed = [token.words for token in tokens[first : last + 1]]
    if not mended:
        yield tuple(word for words in typed for word in words)
        return
    for at in range(first, last + 1):
        for word in mended.get(at, ()):
            mixed = [*typed[: at - first], (word,), *typed[at - first + 1 :]]
            yield tuple(part for words in mixed for part in words)


def _in_name(text: str, tokens: list[NameToken], at: int) -> bool:
    """Whether a word is capitalised; the first word of a text counts only if the second one is capitalised too."""
    if not text[tokens[at].start].isupper():
        return False
    return at > 0 or (len(tokens) > 1 and text[tokens[1].start].isupper())


def _agrees(text: str, start: int, end: int, name: str) -> bool:
    """Whether the text contains the name in its exact spelling, punctuation included, around the matched span."""
    at = text.find(name, max(0, start - len(name)), end + len(name))
    return at >= 0 and at <= start and at + len(name) >= end
