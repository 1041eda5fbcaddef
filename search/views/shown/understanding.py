"""What of a question the shown plan leaves out, word by word, and how the question was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.plan.parts import NEGATED
from search.language.reading import read_cues
from search.language.words import ASKING_WORDS, FUNCTION_WORDS

Json = Mapping[str, Any]

MOST_WORDS = 12
"""Words that are shown one by one; a longer text is hardly a question."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A name that may have been meant by a stretch of the question, and the question with it."""

    text: str
    name: str
    question: str


@dataclass(frozen=True, slots=True)
class ShownUnderstanding:
    """`left` are content words that only the texts were searched for, `turning` words that nothing was done with.

    Turning words are those that turn a condition round, such as *not* and *without*. `read_as` is the question in the
    language of the knowledge base, if it was asked in another one. `more` is the number of words beyond those shown.
    """

    left: tuple[str, ...] = ()
    turning: tuple[str, ...] = ()
    more: int = 0
    read_as: str = ""
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the plan explains every word."""
        return not self.left and not self.turning


def show_understanding(search: Json, language: str = "en") -> ShownUnderstanding | None:
    """Return what the shown plan leaves out; None before there is one, and where a person gave the plan.

    `language` is that of the knowledge base, in which the question is read.
    """
    index = search["plan_index"]
    if index is None or search["plans"][index]["source"] == "user":
        return None
    reading = search.get("reading") or {}
    turning = [one["text"] for one in reading.get("left", ()) if one.get("kind") == "turning"]
    turning = turning or list(_turning(reading.get("gloss") or search["question"], language, search["plans"][index]))
    recorded = [one["text"] for one in reading.get("left", ()) if one.get("kind") != "turning"]
    residual = search["plans"][index]["plan"]["target"].get("relevance_text", "")
    words = list(_distinct(recorded or _content(residual)))
    gloss = reading.get("gloss") or ""
    return ShownUnderstanding(
        left=tuple(words[:MOST_WORDS]),
        turning=tuple(_distinct(turning)),
        more=max(0, len(words) - MOST_WORDS),
        read_as=gloss if gloss != search["question"] else "",
        suggestions=tuple(_suggestions(search["question"], reading.get("did_you_mean", ()))),
    )


def _turning(text: str, language: str, entry: Json) -> Iterator[str]:
    """Yield the turning words of a question whose plan turns nothing round."""
    plan = entry["plan"]
    patterns = [plan, *plan.get("exclude", ())]
    negated = any(one["op"] in NEGATED for pattern in patterns for one in pattern.get("filters", ()))
    if plan.get("exclude") or negated:
        return
    for turning in read_cues(text, language).turnings:
        yield text[turning.start : turning.end]


def _content(text: str) -> Iterator[str]:
    """Yield the words of a text that carry content."""
    for match in _WORD.finditer(text):
        if match.group().casefold() not in FUNCTION_WORDS | ASKING_WORDS:
            yield match.group()


def _distinct(words: Sequence[str] | Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for word in words:
        if word.casefold() not in seen:
            seen.add(word.casefold())
            yield word


def _suggestions(question: str, given: Sequence[Json]) -> Iterator[Suggestion]:
    for one in given:
        if one["text"] and one["text"] in question and one["name"] != one["text"]:
            yield Suggestion(one["text"], one["name"], question.replace(one["text"], one["name"], 1))
