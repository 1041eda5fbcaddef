"""understood: how a question was read, and what of it the shown plan leaves out, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from search.domain.graph import Schema
from search.domain.plan.parts import NEGATED
from search.language.gloss import GlossedQuestion
from search.language.glossing.wanted import Wanted
from search.language.languages import language as language_data
from search.language.names import schema_forms, schema_words
from search.language.turning import most_words, turning_words
from search.language.worded import worded
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem
from search.language.words import words as words_of
from search.text import words as as_words

Json = Mapping[str, Any]

MOST_WORDS = 12
"""Words that are shown one by one; a longer text is hardly a question."""
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def understood(search: Json, schema: Schema | None = None) -> dict[str, Any] | None:
    """Return how the question of a described search was read; None before there is a plan.

    `left` are content words that only the texts were searched for, `more` the number of those beyond `MOST_WORDS`, and
    `turning` words that turn a condition round, such as *not*, or ask for the *most*, with which nothing was done.
    `read_as` is the question in the language of the knowledge base, if it was asked in another one. `notes` are
    sentences about what could not be read, `meant` what was `said` and the `name` that it was taken for. `suggestions`
    are names that may have been meant by a stretch of the question, each with the question that says so.

    A plan that leaves the whole question to the texts has understood the words of its `schema`. Of a plan that a person
    gave only `left` is told.
    """
    index = search["plan_index"]
    if index is None:
        return None
    entry = search["plans"][index]
    # What recovery let go was understood; the page says that it was let go.
    plan = entry.get("given") or entry["plan"]
    content = list(_distinct(_content(plan["target"].get("relevance_text", ""))))
    told: dict[str, Any] = {"turning": [], "read_as": "", "notes": [], "meant": [], "suggestions": []}
    if entry["source"] != "user":
        forms = schema_forms(schema) if schema is not None else frozenset()
        read = worded(search["question"], schema.language if schema is not None else "en", Wanted(forms))
        told["turning"] = list(_distinct([*_turning(read, plan, schema), *_unordered(read, plan)]))
        told["read_as"] = read.text if read.read and read.changed else ""
        told |= {"notes": list(_notes(read)), "meant": list(_meant(search, index))}
        told["suggestions"] = list(_suggestions(read, search.get("did_you_mean", ())))
    turned = {word.casefold() for said in told["turning"] for word in said.split()}
    left = [word for word in content if word.casefold() not in turned]
    if not walks(plan):
        known = schema_words(schema) if schema is not None else frozenset()
        left = [word for word in left if stem(word.casefold()) not in known]
    return {"left": left[:MOST_WORDS], "more": max(0, len(left) - MOST_WORDS), **told}


def walks(plan: Json) -> bool:
    """Whether a plan looks something up in the graph; otherwise the whole question is left to the texts."""
    return any(plan.get(key) for key in ("anchors", "hops", "filters", "exclude", "order"))


def _turning(read: GlossedQuestion, plan: Json, schema: Schema | None) -> Iterator[str]:
    """Yield the turning words of a question, as they were asked, if its plan turns nothing round.

    A relation may say them: *must not be used in*.
    """
    walked = {hop["rel"] for hop in plan["hops"]}
    for relation in schema.relations if schema is not None else ():
        wordings = (relation.description, relation.inverse, *relation.aliases) if relation.name in walked else ()
        if any(turning_words(wording, read.into) for wording in wordings):
            return
    patterns = [plan, *plan.get("exclude", ())]
    negated = any(_negates(one) for pattern in patterns for one in pattern.get("filters", ()))
    if plan.get("exclude") or negated:
        return
    if read.language != read.into and language_data(read.language).whole:
        yield from (read.original[start:end] for start, end in turning_words(read.original, read.language))
        return
    for place in turning_words(read.text, read.into):
        start, end = read.origin(*place)
        yield read.original[start:end]


def _negates(condition: Json) -> bool:
    """Whether a condition says what must not be; to have none of something does."""
    none = "count" in condition and condition["op"] == "=" and condition["value"] == 0
    return none or condition["op"] in NEGATED


def _unordered(read: GlossedQuestion, plan: Json) -> Iterator[str]:
    """Yield the words that ask for the most or the fewest, as they were asked, if the plan puts nothing in order.

    A name or a plan inside may say them, and so does what is counted or computed.
    """
    if not walks(plan) and plan["target"].get("relevance_text"):
        return
    names = " ".join(anchor["text"].casefold() for anchor in plan["anchors"])
    if _orders(plan) or plan.get("ask", "which") != "which":
        return
    for place in most_words(read.text, read.into):
        start, end = read.origin(*place)
        if read.text[slice(*place)].casefold() not in names:
            yield read.original[start:end]


def _orders(plan: Json) -> bool:
    """Whether a plan, or one inside it, has an order or compares a number of neighbours."""
    counted = any("count" in one for one in plan.get("filters") or ())
    inside = (anchor["plan"] for anchor in plan["anchors"] if anchor.get("plan"))
    return bool(plan.get("order")) or counted or any(map(_orders, inside))


def _notes(read: GlossedQuestion) -> Iterator[str]:
    """Yield what could not be read of a question in a language without a data file."""
    if language_data(read.language).whole:
        return
    if read.read:
        yield f"Questions in this language ({read.language}) are read word by word; conditions may be missed."
    else:
        yield f"Of questions in this language ({read.language}) only names and numbers are read."


def _meant(search: Json, index: int) -> Iterator[dict[str, str]]:
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
            yield {"said": said, "name": names[0]}


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


def _suggestions(read: GlossedQuestion, mended: Sequence[Json]) -> Iterator[dict[str, str]]:
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
            yield {"text": one["text"], "name": name, "question": f"{asked[:start]}{name}{asked[end:]}"}
