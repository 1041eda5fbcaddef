"""answer_line: the answer of a search in one line: `Two tents: Godwit 2 and Godwit 4`, `Godwit 2, 1.9 kg`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from search.language.reader import number
from search.language.units import unit_of_name
from search.plan_words import Relations, aggregate_words, field_words, order_words
from search.sentences.nothing import nothing_words
from search.sentences.paths import path_words
from search.sentences.values import (
    amount_words,
    counted,
    listed,
    measured,
    order_value,
    shown_number,
    type_words,
    types_words,
)

Json = Mapping[str, Any]

NAMED = 3
"""Most answers that the line names."""
NAMES_LENGTH = 70
"""Most characters of these names together, unless there is only one."""


def answer_line(search: Json, relations: Relations, *, answered: bool, perhaps: bool) -> str:
    """Return the answer of a described search that is done, without a full stop.

    `answered` is False where nothing is an answer, `perhaps` says that words of the question could not be checked.
    """
    answer, results = search["answer"], search["results"]
    if not answered:
        return _nothing(search)
    index = search["plan_index"]
    plan = search["plans"][index]["plan"]
    kind, noun = answer["kind"], types_words(plan["target"].get("labels") or (), answer["count"])
    if kind == "no":
        return f"No: {_lowered(nothing_words(search['plans'][index].get('given') or plan, relations))}"
    if kind == "number" and not answer["value"]:
        return f"None: {_lowered(nothing_words(search['plans'][index].get('given') or plan, relations))}"
    if kind == "number":
        least = "" if answer["complete"] else "At least "
        return f"{'At most ' if perhaps else least}{number(answer['value'])} {noun}"
    if kind == "aggregate":
        return _aggregate(answer, noun, relations)
    if kind == "yes":
        return _yes(results, answer["count"], noun, relations)
    here = [result for result in results if result["answers"]]
    items = list(_fitting(_item(result, plan, answer, relations) for result in here[:NAMED]))
    return _list(answer, plan, noun, items, here=len(here), perhaps=perhaps, relations=relations)


def _fitting(items: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the first item, and the next ones as long as all of them together are short enough for the line."""
    length = 0
    for item in items:
        length += sum(map(len, item))
        if length > NAMES_LENGTH and length > sum(map(len, item)):
            return
        yield item


def _list(
    answer: Json, plan: Json, noun: str, items: Sequence[tuple[str, str]], *, here: int, perhaps: bool,
    relations: Relations,
) -> str:  # fmt: skip
    """Return a list of answers; `items` are the first ones with their values, `here` is the number of results."""
    count, limit = answer["count"], (plan.get("order") or {}).get("limit")
    if count == 1 and items:
        alone = ", ".join(filter(None, items[0]))
        return f"Perhaps {alone}" if perhaps else alone
    if perhaps and items and count > here:
        return f"Perhaps {items[0][0]}, the closest of {number(count)} {noun}"
    many = counted(count, noun) if answer["complete"] else f"At least {number(count)} {noun}"
    many = f"Perhaps {many[:1].lower()}{many[1:]}" if perhaps else many
    if limit and count > limit:
        many = f"{many} share the first {'place' if limit == 1 else f'{limit} places'}"
    if plan.get("order") and count > NAMED and not perhaps:
        return f"{many}, {order_words({**plan['order'], 'limit': None}, relations)}"
    named = [f"{name} ({value})" if value else name for name, value in items]
    rest = [f"{number(count - len(items))} more"] if count > len(items) else []
    return f"{many}: {listed([*named, *rest])}" if items else many


def _item(result: Json, plan: Json, answer: Json, relations: Relations) -> tuple[str, str]:
    """Return an answer by its name, with the value that is asked for or that puts it first; empty without one."""
    evidence, name = result.get("evidence") or {}, str(result["node"]["name"])
    if field := answer.get("field"):
        value = evidence.get("value")
        return name, f"{unit_of_name(field)[0]} not known" if value is None else _value(field, value, relations)
    order, placed = plan.get("order"), evidence.get("order")
    if not order or not order.get("limit") or not placed or placed.get("value") is None:
        return name, type_words(result["node"]["type"]) if is_bare(plan) else ""
    by = order["by"].get("field")
    said = _value(by, placed["value"], relations) if by else order_value(order, placed["value"], relations)
    return name, said.removeprefix("is ")


def is_bare(plan: Json) -> bool:
    """Whether a plan is nothing but the name of a thing."""
    anchors, more = plan.get("anchors", ()), ("hops", "filters", "exclude", "order", "show")
    only = len(anchors) == 1 and anchors[0]["var"] == plan["target"].get("var", "T")
    return only and not any(plan.get(key) for key in more) and not plan["target"].get("relevance_text")


def _value(field: str, value: Any, relations: Relations) -> str:
    """Return a value that stands for itself because it has a unit or is text; others with the name of their field."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    alone = field_words(field, relations)[1] or not is_number
    return amount_words(field, value, relations)[1] if alone else measured(field, value)


def _aggregate(answer: Json, noun: str, relations: Relations) -> str:
    one, count = answer["aggregate"], answer["count"]
    named = unit_of_name(one["field"])[0]
    if one["value"] is None:
        return f"Not known: {number(count)} {noun} {'has' if count == 1 else 'have'} no {named} here"
    some = "" if one["nodes"] == count else f"{number(one['nodes'])} of "
    value = amount_words(one["field"], shown_number(one["value"]), relations)[1]
    return f"{value}, the {aggregate_words(one['function'], one['field'])} of {some}{number(count)} {noun}"


def _yes(results: Sequence[Json], count: int, noun: str, relations: Relations) -> str:
    proof = next(_proofs(results), None)
    if proof:
        return f"Yes: {path_words(proof, relations)}"
    return f"Yes: {counted(count, noun).lower()}" if count > 1 else "Yes"


def _proofs(results: Sequence[Json]) -> Iterator[Sequence[Json]]:
    for result in results:
        if result["answers"] and result.get("evidence"):
            yield from (path for path in result["evidence"]["paths"] if path)


def _lowered(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}".rstrip(".")


def _nothing(search: Json) -> str:
    if search["answer"]["kind"] == "unknown":
        return "This data says neither yes nor no"
    near = "; the closest results are below" if search["results"] else ""
    return f"Nothing here answers this{' exactly' if near else ''}{near}"
