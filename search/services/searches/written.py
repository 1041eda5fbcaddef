"""written: the answer of a search in two or three sentences, each with the sources that bear it out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.language.reader import number
from search.plan_words import Relations, aggregate_words
from search.sentences.nothing import nothing_words
from search.sentences.paths import is_worded, path_words
from search.sentences.reading import exclusions, name_words, reading_words, with_article
from search.sentences.values import (
    amount_words,
    counted,
    measured,
    shown_number,
    type_words,
    types_words,
    values_of,
)
from search.services.searches.answer_line import is_bare

Json = Mapping[str, Any]

NAMED = 3
"""Most answers that the sentences name."""
LONGEST_VALUE = 160
"""Most characters of a value that a sentence repeats."""
_ANSWERS = {
    "sure": ("answers", "answer"), "probably": ("probably answers", "probably answer"),
    "unsure": ("may answer", "may answer"),
}  # fmt: skip
_IS = {"sure": "is", "probably": "is probably", "unsure": "may be"}
_BEFORE = {"sure": "", "probably": "This probably answers it: ", "unsure": "This may answer it: "}
_YES = {"sure": "Yes", "probably": "Probably yes", "unsure": "Perhaps"}
_NO = {"sure": "No", "probably": "Probably not", "unsure": "Perhaps not"}
"""By the verdict: the verb of one and of several answers, what comes before a statement, and yes and no."""


@dataclass(frozen=True, slots=True)
class _Source:
    """What bears out a claim: a result by its rank with its evidence, or, without a rank, what was looked up."""

    rank: int | None
    id: str
    name: str
    evidence: str


_Part = str | _Source
"""A part of a sentence; where a source stands, its number is written."""


@dataclass(frozen=True, slots=True)
class _Told:
    """What the sentences are made of: the search, its shown plan, and the results that answer it."""

    search: Json
    plan: Json
    answer: Json
    relations: Relations
    here: tuple[Json, ...]

    @property
    def count(self) -> int:
        """The number of answers in the graph."""
        return int(self.answer["count"])

    @property
    def noun(self) -> str:
        """The types of the answers."""
        return types_words(self.plan["target"].get("labels") or (), self.count)

    @property
    def conditions(self) -> str:
        """What each answer is, as far as the graph was asked; empty if that is no more than its type."""
        order = self.plan.get("order")
        asked = {key: value for key, value in self.plan.items() if key not in ("ask", "show")}
        asked["target"] = {**asked["target"], "relevance_text": ""}
        asked["order"] = order if order and order.get("limit") else None
        if asked["order"]:
            asked["anchors"] = [one for one in asked["anchors"] if one["var"] != asked["target"].get("var", "T")]
        said = reading_words(asked, self.relations)
        return "" if said == types_words(self.plan["target"].get("labels") or (), 1) else said

    @property
    def choice(self) -> str:
        """The names among which the first of an order is asked for: `of “A, B” `, or nothing."""
        goal = self.plan["target"].get("var", "T")
        names = [name_words(one, self.relations) for one in self.plan["anchors"] if one["var"] == goal]
        return f"of {names[0]} " if names and (self.plan.get("order") or {}).get("limit") else ""

    def named(self, *, rest: bool = True) -> list[_Part]:
        """Return the first answers by name, each with its values and its source, and the number of the others."""
        items: list[list[_Part]] = [[self.valued(one), self.source(one)] for one in self.here[:NAMED]]
        more = self.count - len(items)
        return _listed([*items, *([[f"{number(more)} more"]] if rest and more > 0 else [])])

    def valued(self, result: Json) -> str:
        """Return the name of an answer with the values that put it first, are shown or are compared."""
        name = str(result["node"]["name"])
        said = ", ".join(values_of(self.plan, result.get("evidence") or {}, self.relations))
        return f"{name} ({said})" if said else name

    def source(self, result: Json) -> _Source:
        """Return the source of what is said of a result: its paths, its values and what it is not."""
        evidence, node = result.get("evidence") or {}, result["node"]
        facts = [path_words(path, self.relations) for path in evidence.get("paths", ()) if len(path) > 1]
        facts += values_of(self.plan, evidence, self.relations)
        facts += exclusions(self.plan, self.relations)
        said = "; ".join([type_words(node["type"]), *dict.fromkeys(facts)])
        return _Source(result["rank"], str(node["id"]), str(node["name"]), said)

    @property
    def looked_up(self) -> _Source:
        """The source of what is said of all answers or of none: what was looked up, and how many were found."""
        found = f"{'' if self.answer['complete'] else 'at least '}{number(self.count)} found"
        return _Source(None, "", "", f"{self.conditions or self.noun}: {found}")


def written(search: Json, answer: Json, clarify: Sequence[Json], relations: Relations) -> list[dict[str, Any]]:
    """Return the sentences of a described search, none if nothing answers it or it has not ended.

    `answer` is the answer with its line and verdict, `clarify` the readings to choose from. Each sentence is
    `{"text", "sources"}`; its text has the number of each source in brackets. A source is
    `{"number", "rank", "id", "name", "evidence"}`: a result with what the graph says of it, or, where `rank` is null,
    what was looked up.
    """
    if answer["verdict"] in (None, "none"):
        return []
    entry = search["plans"][search["plan_index"]]
    here = tuple(result for result in search["results"] if result["answers"])
    told = _Told(search, entry.get("given") or entry["plan"], answer, relations, here)
    sentences = [*_sentences(told), *_otherwise(clarify)]
    numbers: dict[_Source, int] = {}
    return [_numbered(parts, told.looked_up, numbers) for parts in sentences]


def written_lines(sentences: Sequence[Json]) -> list[str]:
    """Return a written answer as lines of text: its sentences in one, then each source by its number."""
    return [" ".join(str(one["text"]) for one in sentences), *source_lines(sentences)] if sentences else []


def source_lines(sentences: Sequence[Json]) -> list[str]:
    """Return the sources of sentences as lines of text: `[1] Godwit 2: tent; Hollow makes Godwit 2`."""
    known = {one["number"]: one for sentence in sentences for one in sentence["sources"]}
    return [f"[{number}] {': '.join(filter(None, [one['name'], one['evidence']]))}" for number, one in known.items()]


def _sentences(told: _Told) -> Iterator[list[_Part]]:
    kind, answer = told.answer["kind"], told.answer
    if kind == "no" or (kind == "number" and not answer["value"]):
        said = nothing_words(told.plan, told.relations)
        yield [f"{_NO[answer['verdict']] if kind == 'no' else 'None'}: {_lowered(said)}"]
    elif kind == "yes":
        yield from _yes(told)
    elif kind == "number":
        yield from _number(told)
    elif kind == "aggregate":
        yield from _aggregate(told)
    elif told.count == 1 and told.here:
        yield from _one(told, told.here[0])
    else:
        yield from _several(told)


def _yes(told: _Told) -> Iterator[list[_Part]]:
    yes = _YES[told.answer["verdict"]]
    proof = next((one for one in told.here if _paths(one)), None)
    if proof is not None:
        yield [f"{yes}: {path_words(_paths(proof)[0], told.relations)}", told.source(proof)]
    elif told.here:
        yield [f"{yes}: ", *told.named()]
    else:
        yield [f"{yes}: {counted(told.count, told.noun).lower()}"]
    if told.count > 1:
        yield [f"This holds for {_least(told)}{number(told.count)} {told.noun}", told.looked_up]


def _number(told: _Told) -> Iterator[list[_Part]]:
    verb = _ANSWERS[told.answer["verdict"]][told.count != 1]
    yield [f"{told.answer['line']} {verb} this", told.looked_up]
    yield from _each(told)
    yield from _among(told)


def _aggregate(told: _Told) -> Iterator[list[_Part]]:
    one, count = told.answer["aggregate"], told.count
    if one["value"] is None:
        yield [told.answer["line"]]
        return
    some = "" if one["nodes"] == count else f"{number(one['nodes'])} of "
    value = amount_words(one["field"], shown_number(one["value"]), told.relations)[1]
    what = aggregate_words(one["function"], one["field"])
    said = f"the {what} of {some}{_least(told)}{number(count)} {told.noun} is {value}"
    yield [f"{_BEFORE[told.answer['verdict']]}{said}", told.looked_up]
    yield from _each(told)
    yield from _among(told)


def _one(told: _Told, result: Json) -> Iterator[list[_Part]]:
    """Yield what is said of the only answer."""
    verdict, field = told.answer["verdict"], told.answer.get("field")
    name, source = str(result["node"]["name"]), told.source(result)
    if is_bare(told.plan):
        yield [name, source, f" {_IS[verdict]} the {type_words(result['node']['type'])} that was asked for"]
        return
    article = "the only " if told.answer["complete"] and not told.plan.get("order") else "the "
    conditions = told.conditions
    what = f"{told.choice}it is {'' if conditions.startswith('“') else article}{conditions}" if conditions else ""
    if field:
        value = (result.get("evidence") or {}).get("value")
        yield [f"{_BEFORE[verdict]}{_value_words(name, field, value, told.relations)}", source]
        if what:
            yield [what, source]
    else:
        values = told.valued(result).removeprefix(name)
        verb = f" {_ANSWERS[verdict][0]} this"
        yield [name, source, f"{verb}: {what}{values}"] if what else [f"{name}{values}", source, verb]
    yield from _way(told, result)


def _several(told: _Told) -> Iterator[list[_Part]]:
    """Yield what is said of a list of answers."""
    answer, plan = told.answer, told.plan
    many = counted(told.count, told.noun) if answer["complete"] else f"At least {number(told.count)} {told.noun}"
    said = f"{many} {_ANSWERS[answer['verdict']][told.count != 1]} this"
    text = plan["target"].get("relevance_text")
    if not told.here:
        yield [said]
    elif text and told.count > len(told.here):
        yield [f"{said}; the closest by their texts: ", *told.named(rest=False)]
    else:
        yield [f"{said}: ", *told.named()]
    yield from _each(told)
    if told.here:
        yield from _way(told, told.here[0])


def _among(told: _Told) -> Iterator[list[_Part]]:
    if told.here:
        yield ["It is " if told.count == 1 else "Among them: ", *told.named(rest=False)]


def _way(told: _Told, result: Json) -> Iterator[list[_Part]]:
    """Yield the first path of a result that leads over another node, which its conditions do not name."""
    for path in _paths(result)[:1]:
        if len(path) > 3 and is_worded(path, told.relations):
            yield [path_words(path, told.relations), told.source(result)]


def _otherwise(clarify: Sequence[Json]) -> Iterator[list[_Part]]:
    if len(clarify) > 1:
        yield [f"The answer is another one if this is meant: {clarify[1]['sentence']}"]


def _numbered(parts: Sequence[_Part], looked_up: _Source, numbers: dict[_Source, int]) -> dict[str, Any]:
    """Return a sentence with its sources by number; what no result bears out is borne out by what was looked up."""
    used = [part for part in parts if isinstance(part, _Source)]
    parts = parts if used else [*parts, looked_up]
    used = list(dict.fromkeys(used or [looked_up]))
    for source in used:
        numbers.setdefault(source, len(numbers) + 1)
    text = "".join(part if isinstance(part, str) else f" [{numbers[part]}]" for part in parts)
    return {
        "text": f"{text[:1].upper()}{text[1:]}.",
        "sources": [
            {"number": numbers[one], "rank": one.rank, "id": one.id, "name": one.name, "evidence": one.evidence}
            for one in used
        ],
    }


def _value_words(name: str, field: str, value: Any, relations: Relations) -> str:
    if value is None:
        return f"the {measured(field, None).removesuffix(' not known')} of {name} is not known here"
    field_name, said = amount_words(field, value, relations)
    said = said if len(said) <= LONGEST_VALUE else f"{said[: LONGEST_VALUE - 1]}…"
    return f"the {field_name} of {name} {'are' if isinstance(value, list) and len(value) > 1 else 'is'} {said}"


def _each(told: _Told) -> Iterator[list[_Part]]:
    """Yield what every answer is, if that is more than its type; a plan of a name calls it by that name."""
    if said := told.conditions:
        each = told.choice + ("it" if told.count == 1 else "each of them")
        yield [f"{each} is {said if said.startswith('“') else with_article(said)}", told.looked_up]


def _least(told: _Told) -> str:
    return "" if told.answer["complete"] else "at least "


def _listed(items: Sequence[Sequence[_Part]]) -> list[_Part]:
    """Return the items as a list in a sentence: `A [1], B [2] and C [3]`."""
    parts: list[_Part] = []
    for at, item in enumerate(items):
        parts += [] if not at else [" and "] if at == len(items) - 1 else [", "]
        parts += item
    return parts


def _paths(result: Json) -> list[Sequence[Json]]:
    return [path for path in (result.get("evidence") or {}).get("paths", ()) if len(path) > 1]


def _lowered(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}".rstrip(".")
