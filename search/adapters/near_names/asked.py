"""A question as the search for near names reads it: its words, which of them are explained, and which are misspelt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from search.adapters.name_words import QUOTED, Folded, folded_tokens
from search.adapters.near_names.files import NearFiles
from search.adapters.spelling_memmap import correctable
from search.interfaces import Mention
from search.language.words import ASKING_WORDS, FUNCTION_WORDS

MOST_TOKENS = 120
"""Words of a question that are searched for near names."""
_MENDINGS = 8
"""Most corrections of one word that are tried, those first that many names have."""
_CLOSE = 40
"""Most words near to a misspelt one that are ordered by that."""
_LETTER_WORDS = ("a", "i")
_ENDS = ".?!:"


@dataclass(frozen=True, eq=False)
class AskedName:
    """The words of a question, and the names that are found in it as they are stored (`exact`)."""

    text: str
    files: NearFiles
    exact: Sequence[Mention]

    @cached_property
    def tokens(self) -> list[Folded]:
        """The words; none follow after `MOST_TOKENS`."""
        return folded_tokens(self.text, self.files.fold)[:MOST_TOKENS]

    @cached_property
    def known_spans(self) -> set[tuple[int, int]]:
        """The offsets of the exact names."""
        return {(mention.start, mention.end) for mention in self.exact}

    @cached_property
    def covered(self) -> list[bool]:
        """Whether each word is explained by an exact name of several words, or by one with the same capital."""
        covered = [False] * len(self.tokens)
        for mention in self.exact:
            inside = [at for at, token in enumerate(self.tokens) if mention.start <= token.start < mention.end]
            if not inside:
                # The name stands behind the last word that is searched, or its first letters belong to a longer word.
                continue
            if sum(self.content[at] for at in inside) > 1 or (any(mention.exact) and self.capital[inside[0]]):
                for at in inside:
                    covered[at] = True
        return covered

    @cached_property
    def capital(self) -> list[bool]:
        """Whether each word has a capital that its place in the text does not explain, or a digit at its start."""
        if self.text.isupper():
            return [False] * len(self.tokens)
        marks = []
        for at, token in enumerate(self.tokens):
            letter = self.text[token.start]
            begins = at == 0 or self.text[: token.start].rstrip(" \"'“‘«(")[-1:] in _ENDS
            marks.append(letter.isdigit() or (letter.isupper() and not (begins and self.common[at])))
        return marks

    @cached_property
    def content(self) -> list[bool]:
        """Whether each word is neither a function word nor a word of asking; an initial is one of content."""
        return [
            bool(token.folds)
            and (self.initial[at] or (token.words[0] not in FUNCTION_WORDS and token.words[0] not in ASKING_WORDS))
            for at, token in enumerate(self.tokens)
        ]

    @cached_property
    def initial(self) -> list[bool]:
        """Whether each word is a single capital that is no word: neither *I* nor *A*, unless a full stop follows."""
        return [
            token.end - token.start == 1
            and self.text[token.start].isupper()
            and (token.words[0] not in _LETTER_WORDS or self.text[token.end : token.end + 1] == ".")
            for token in self.tokens
        ]

    @cached_property
    def common(self) -> list[bool]:
        """Whether each word, or its singular, is one that everybody uses."""
        common = self.files.common
        return [
            all(word in common for word in token.words) or (bool(token.folds) and all(f in common for f in token.folds))
            for token in self.tokens
        ]

    @cached_property
    def is_word(self) -> list[bool]:
        """Whether each word is a word of the language in any inflection."""
        return [common or self.files.is_word(t.words[0]) for common, t in zip(self.common, self.tokens, strict=True)]

    @cached_property
    def places(self) -> list[int]:
        """The place of each word among the words of all names; -1 if no name has it or it is several words."""
        single = [token.folds[0] if len(token.folds) == 1 else "" for token in self.tokens]
        return self.files.places(single)

    @cached_property
    def mended(self) -> dict[int, list[tuple[int, int]]]:
        """Position of a misspelt word → (place, errors) of the words that may be meant, the nearest first.

        A word that names have may still be the misspelling of another one (`Ana` of `Anna`): it counts if it begins
        with a capital and is not common. A word that no name has counts if it begins with a capital or is no word.
        """
        found: dict[int, list[tuple[int, int]]] = {}
        for at, token in enumerate(self.tokens):
            if self.covered[at] or not self.content[at] or len(token.folds) != 1 or not correctable(token.folds[0]):
                continue
            upper = self.text[token.start].isupper()
            if upper and not self.common[at] if self.places[at] >= 0 else upper or not self.is_word[at]:
                close = self.files.spellings.close(token.folds[0], most=_CLOSE)
                close.sort(key=lambda pair: (pair[1], -self.files.having(pair[0]), pair[0]))
                found |= {at: close[:_MENDINGS]} if close else {}
        return found

    @cached_property
    def quoted(self) -> set[tuple[int, int]]:
        """First and last word of every stretch in quotes."""
        spans = [match.span() for match in QUOTED.finditer(self.text)]
        inside = [[at for at, t in enumerate(self.tokens) if first <= t.start < last] for first, last in spans]
        return {(words[0], words[-1]) for words in inside if words}

    def stretch(self, first: int, last: int) -> str:
        """Return the text from the first of two words to the end of the last one."""
        return self.text[self.tokens[first].start : self.tokens[last].end]

    def folds(self, first: int, last: int) -> list[str]:
        """Return the folded words of a stretch."""
        return [fold for token in self.tokens[first : last + 1] for fold in token.folds]
