"""The words that say what kind of answer a question wants: a number, yes or no, or (without such words) the things."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from search.language.cues import Asking, Span
from search.language.languages import language
from search.language.tokens import Phrases, Token, phrases

_MOST_HELD = 8


class AskingReader:
    """Finds the words of asking of one language."""

    def __init__(self, code: str) -> None:
        lang = language(code)
        self._many = phrases(lang.entries("asking", "many"))
        self._first = phrases(lang.entries("asking", "first"))
        self._never = phrases(lang.entries("asking", "never"))
        self._count = phrases(lang.entries("asking", "count"))
        self._openers = (lang.set("words", "function") | lang.set("words", "asking")) - lang.set(
            "asking", "not_openers"
        )
        self._whether = phrases((*lang.entries("asking", "whether"), *lang.entries("asking", "if")))
        self._auxiliary: Phrases[str] = phrases(lang.entries("asking", "auxiliary"))
        self._request = phrases(lang.entries("asking", "request"))
        self._polite = phrases(lang.entries("asking", "polite"))
        self._tags = phrases(lang.entries("asking", "after_comma"))

    def read(self, said: Sequence[Token], held: Sequence[Span] = ()) -> Asking | None:
        """Return what kind of answer the text asks for; None for *which*. Words in the stretches `held` do not count.

        Only the first few stretches are looked at, because a question says early what it asks for.
        """
        held = held[:_MOST_HELD]
        return self._counted(said, held) or self._opened(said) or self._tagged(said)

    def _counted(self, said: Sequence[Token], held: Sequence[Span]) -> Asking | None:
        """Return `how many` for the first words of counting, `whether` for words such as *whether*."""
        opening, begins, first = True, 0, self._after_polite(said)
        for at in range(len(said)):
            length, ask = self._many.length(said, at), "how many"
            if opening:
                length = max(length, self._count.length(said, at))
            if at == first:
                length = max(length, self._first.length(said, at))
            if not length and (length := self._whether.length(said, at)):
                ask = "whether"
            if never := self._never.length(said, at):
                begins = max(begins, at + never)
            if (
                length
                and at >= begins
                and not any(said[at].start < end and start < said[at + length - 1].end for start, end in held)
            ):
                return Asking(said[at].start, said[at + length - 1].end, "how many" if ask == "how many" else "whether")
            opening = opening and said[at].word in self._openers
        return None

    def _opened(self, said: Sequence[Token]) -> Asking | None:
        """Return `whether` if an auxiliary opens the question (*does X treat Y*), unless it opens a request."""
        at = self._after_polite(said)
        if self._request.length(said, at):
            return None
        length = self._auxiliary.length(said, at)
        if not length or at + length >= len(said):
            return None
        return Asking(said[at].start, said[at + length - 1].end, "whether")

    def _after_polite(self, said: Sequence[Token]) -> int:
        at = 0
        while length := self._polite.length(said, at):
            at += length
        return at

    def _tagged(self, said: Sequence[Token]) -> Asking | None:
        """Return `whether` for a tag at the end of the question: *X treats Y, right?*"""
        for at in range(max(1, len(said) - 3), len(said)):
            if said[at].mark == "," and self._tags.length(said, at) == len(said) - at:
                return Asking(said[at].start, said[-1].end, "whether")
        return None


@lru_cache(maxsize=32)
def asking_reader(code: str) -> AskingReader:
    """Return the reader of a language."""
    return AskingReader(code)
