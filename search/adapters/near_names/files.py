"""The memory-mapped files of near names, opened on first use and shared by threads."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.name_words import folder_of
from search.adapters.near_names.forms import code_of
from search.adapters.spelling_memmap import Spellings
from search.adapters.string_table import StringTable
from search.language.common import common_words, is_word

MANIFEST = "near.json"


@dataclass(frozen=True)
class NearFiles:
    """What `build` wrote into `directory`, and the exact names in `mentions`.

    A *name* is a number here: names with the same normalised words have the same one.
    """

    directory: Path
    mentions: Path

    @cached_property
    def there(self) -> bool:
        """Whether the files are there; releases that were indexed before lack them."""
        return (self.directory / MANIFEST).is_file()

    @cached_property
    def fold(self) -> Callable[[str], str]:
        """The function that folds normalised words."""
        return folder_of(self._manifest["language"])

    @cached_property
    def common(self) -> frozenset[str]:
        """The words of the language that everybody uses."""
        return common_words(self._manifest["language"])

    def is_word(self, word: str) -> bool:
        """Whether a word in lower case is a word of the language, and so no misspelling."""
        return is_word(word, self._manifest["language"])

    @property
    def size(self) -> int:
        """Number of names."""
        return len(self._rows) - 1

    def keys(self, name: int) -> list[int]:
        """Return the keys of the nodes with a name; a node may be there twice."""
        found: list[int] = self._keys[self._rows[name] : self._rows[name + 1]].tolist()
        return found

    def spelling(self, name: int) -> str:
        """Return the name as it is stored; of several spellings the first."""
        return self._names[int(self._rows[name])]

    def found(self, codes: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return (position in `codes`, name, kind of form) for every form with one of these hashes."""
        if not codes or not len(self._form_hashes):
            return []
        wanted = np.array(codes, dtype=np.uint64)
        begins = np.searchsorted(self._form_hashes, wanted, side="left")
        hits = np.flatnonzero(self._form_hashes[np.minimum(begins, len(self._form_hashes) - 1)] == wanted)
        ends = np.searchsorted(self._form_hashes, wanted[hits], side="right")
        rows = []
        for at, first, last in zip(hits.tolist(), begins[hits].tolist(), ends.tolist(), strict=True):
            names, kinds = self._form_names[first:last].tolist(), self._form_kinds[first:last].tolist()
            rows += [(at, name, kind) for name, kind in zip(names, kinds, strict=True)]
        return rows

    def places(self, words: Sequence[str]) -> list[int]:
        """Return the place of each folded word among the words of all names, -1 if no name has it."""
        if not words or not len(self._word_hashes):
            return [-1] * len(words)
        wanted = np.array([code_of(word) for word in words], dtype=np.uint64)
        at = np.minimum(np.searchsorted(self._word_hashes, wanted), len(self._word_hashes) - 1)
        at[self._word_hashes[at] != wanted] = -1
        return [int(place) for place in at]

    def having(self, place: int) -> int:
        """Return the number of names that have a word."""
        return int(self._posting_starts[place + 1] - self._posting_starts[place])

    def names_with(self, place: int) -> NDArray[np.int32]:
        """Return the names that have a word, sorted."""
        return self._postings[self._posting_starts[place] : self._posting_starts[place + 1]]

    def names_ending(self, place: int, most: int) -> NDArray[np.int32]:
        """Return the names of two to `most` words that end with a word, sorted."""
        names = self.names_with(place)
        ends = self._starts[names + 1]
        sizes = ends - self._starts[names]
        kept: NDArray[np.int32] = names[(sizes > 1) & (sizes <= most) & (self._sequence[ends - 1] == place)]
        return kept

    def words_of(self, name: int) -> list[int]:
        """Return the places of the words of a name, in their order."""
        found: list[int] = self._sequence[self._starts[name] : self._starts[name + 1]].tolist()
        return found

    def rarity(self, name: int) -> list[float]:
        """Return the inverse document frequency, among the names, of each word of a name; 0.1 or more."""
        found: list[float] = self._rarities[self._sequence[self._starts[name] : self._starts[name + 1]]].tolist()
        return found

    @cached_property
    def _rarities(self) -> NDArray[np.float32]:
        having = np.maximum(np.diff(self._posting_starts), 1)
        return np.maximum(0.1, np.log(self.size / having)).astype(np.float32)

    @cached_property
    def words(self) -> StringTable:
        """The words of all names."""
        return StringTable.open(self.directory / "words")

    @cached_property
    def spellings(self) -> Spellings:
        """The words of all names by their deletions."""
        return Spellings(self.directory, self.words)

    @cached_property
    def _manifest(self) -> dict[str, Any]:
        return json.loads((self.directory / MANIFEST).read_text())

    def _array(self, name: str) -> NDArray[Any]:
        return np.load(self.directory / f"{name}.npy", mmap_mode="r").view(np.ndarray)

    @cached_property
    def _rows(self) -> NDArray[np.int32]:
        return self._array("rows")

    @cached_property
    def _keys(self) -> NDArray[np.int32]:
        return np.load(self.mentions / "keys.npy", mmap_mode="r").view(np.ndarray)

    @cached_property
    def _names(self) -> StringTable:
        return StringTable.open(self.mentions / "names")

    @cached_property
    def _form_hashes(self) -> NDArray[np.uint64]:
        return self._array("forms.hashes")

    @cached_property
    def _form_names(self) -> NDArray[np.int32]:
        return self._array("forms.names")

    @cached_property
    def _form_kinds(self) -> NDArray[np.uint8]:
        return self._array("forms.kinds")

    @cached_property
    def _word_hashes(self) -> NDArray[np.uint64]:
        return self._array("words.hashes")

    @cached_property
    def _postings(self) -> NDArray[np.int32]:
        return self._array("postings")

    @cached_property
    def _posting_starts(self) -> NDArray[np.int64]:
        return self._array("postings.starts")

    @cached_property
    def _sequence(self) -> NDArray[np.int32]:
        return self._array("sequence")

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self._array("sequence.starts")
