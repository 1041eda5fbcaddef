"""What of a question the shown plan leaves out, word by word, and how the question was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.graph import Schema
from search.domain.plan.parts import NEGATED
from search.language.gloss import Gloss
from search.language.glossing.wanted import Wanted
from search.language.languages import language as language_data
from search.language.names import schema_forms, schema_words
from search.language.turning import turning_words
from search.language.worded import worded
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem
from search.language.words import words as words_of
from search.text import words as as_words

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
    language of the knowledge base, if it was asked in another one. `notes` are sentences about what could not be read,
    `meant` pairs of what was said and the name that it was taken for. `more` is the number of words beyond those shown.
    """

    left: tuple[str, ...] = ()
    turning: tuple[str, ...] = ()
    more: int = 0
    read_as: str = ""
    notes: tuple[str, ...] = ()
    meant: tuple[tuple[str, str], ...] = ()
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the plan explains every word."""
        return not self.left and not self.turning


def show_understanding(search: Json, language: str = "en", schema: Schema | None = None) -> ShownUnderstanding | None:
    """Return what the shown plan leaves out; None before there is one, and where a person gave the plan.

    `language` is that of the knowledge base, in which the question is read. A plan that leaves the whole question to
    the texts has understood the words of its `schema`.
    """
    index = search["plan_index"]
    if index is None or search["plans"][index]["source"] == "user":
        return None
    entry = search["plans"][index]
    # What recovery let go was understood; the page says that it was let go.
    plan = entry.get("given") or entry["plan"]
    forms = schema_forms(schema) if schema is not None else frozenset()
    read = worded(search["question"], language, Wanted(forms))
    turning = tuple(_distinct(_turning(read, plan)))
    turned = {word.casefold() for said in turning for word in said.split()}
    content = _distinct(_content(plan["target"].get("relevance_text", "")))
    words = [word for word in content if word.casefold() not in turned]
    if not any(plan.get(key) for key in ("anchors", "hops", "filters", "exclude", "order")):
        known = schema_words(schema) if schema is not None else frozenset()
        words = [word for word in words if stem(word.casefold()) not in known]
    return ShownUnderstanding(
        left=tuple(words[:MOST_WORDS]),
        turning=turning,
        more=max(0, len(words) - MOST_WORDS),
        read_as=read.text if read.read and read.changed else "",
        notes=tuple(_notes(read)),
        meant=tuple(_meant(search, index)),
        suggestions=tuple(_suggestions(read, search.get("did_you_mean", ()))),
    )


def _turning(read: Gloss, plan: Json) -> Iterator[str]:
    """Yield the turning words of a question, as they were asked, if its plan turns nothing round."""
    patterns = [plan, *plan.get("exclude", ())]
    negated = any(one["op"] in NEGATED for pattern in patterns for one in pattern.get("filters", ()))
    if plan.get("exclude") or negated:
        return
    if read.language != read.into and language_data(read.language).whole:
        yield from (read.original[start:end] for start, end in turning_words(read.original, read.language))
        return
    for place in turning_words(read.text, read.into):
        start, end = read.origin(*place)
        yield read.original[start:end]


def _notes(read: Gloss) -> Iterator[str]:
    """Yield what could not be read of a question in a language without a data file."""
    if language_data(read.language).whole:
        return
    if read.read:
        yield f"Questions in this language ({read.language}) are read word by word; conditions may be missed."
    else:
        yield f"Of questions in this language ({read.language}) only names and numbers are read."


def _meant(search: Json, index: int) -> Iterator[tuple[str, str]]:
    """Yield the names that were said in another way than they are stored, with the stored name.

    Singular and plural, case and possessive endings do not count as another way.
    """
    plan = search["plans"][index]["plan"]
    texts: dict[tuple[int | None, str], str] = {(None, one["var"]): one["text"] for one in plan["anchors"]}
    for at, pattern in enumerate(plan.get("exclude", ())):
        texts |= {(at, anchor["var"]): anchor["text"] for anchor in pattern["anchors"]}
    for one in search["linked"]:
        said = texts.get((one.get("exclude"), one["anchor"]), "") if one["plan_index"] == index else ""
        names = [binding["node"]["name"] for binding in one["bindings"]]
        if said and names and all(_stems(said) != _stems(name) for name in names):
            yield said, names[0]


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words_of(text)]


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


def _suggestions(read: Gloss, mended: Sequence[Json]) -> Iterator[Suggestion]:
    """Yield the better-known nodes that may be meant instead of those that were read, as other questions.

    A node with the same name is asked for by its type too; one of the same type cannot be told apart by words.
    """
    asked = read.original
    for one in mended:
        place = read.text.find(one["text"]) if one["text"] else -1
        if place < 0:
            continue
        start, end = read.origin(place, place + len(one["text"]))
        for other in one["others"]:
            name = other["name"]
            if name.casefold() == one["name"].casefold():
                if other["type"] == one["type"]:
                    continue
                name = f"{as_words(other['type'])} {name}"
            yield Suggestion(one["text"], name, f"{asked[:start]}{name}{asked[end:]}")
