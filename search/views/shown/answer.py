"""The answer of a search's plan in words: the line above the results, and the line where they end being answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.text import Truncator

from search.domain.graph import Relation
from search.language.units import unit_of_name
from search.plan_words import aggregate_words, order_words
from search.text import path_text, words
from search.views.shown.nothing import let_go_words, looked_at_words, nothing_words
from search.views.shown.wording import GROUPED, amount_words, shown_number, type_words

Json = Mapping[str, Any]
Relations = Mapping[str, Relation]

DOUBTFUL = 0.5
"""A plan that is less probable than this is shown as doubtful beside its answer."""
MOST_PROOFS = 3
"""Paths that are shown as the proof of a yes."""
MOST_QUOTED = 120
"""Most characters of the question that a sentence repeats."""


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What the plan answers: `head` is the answer itself, `said` a sentence about it.

    `paths` prove a yes. `count` is the number of answers in the graph, `here` how many of them are among the results,
    and `last` the rank of the last of these, 0 without one. `near` is the number of results that are no answers.
    """

    kind: str
    head: str
    said: str
    count: int
    here: int
    last: int
    near: int
    paths: tuple[str, ...] = ()
    doubt: float | None = None
    """Probability of the plan, if it is so small that the question was more likely meant otherwise.

    None where `right` says how sure the list is.
    """
    changed: bool = False
    """Whether the plan as it was asked found nothing, so that no result is an answer."""
    open: bool = False
    """Whether only texts can say which of the answers are meant: the plan leaves words over."""
    right: float | None = None
    """Calibrated probability that the first result is right, where a ranker ordered the list and has learned it."""
    of_made: bool = False
    """Whether that ranker has learned from made questions alone."""

    @property
    def elsewhere(self) -> bool:
        """Whether the plan has answers that are not among the results."""
        return self.count > self.here

    @property
    def all_near(self) -> bool:
        """Whether there are answers in the graph, and none of them among the results."""
        return self.kind in ("number", "aggregate") and self.count > 0 and not self.last and self.near > 0

    @property
    def none_meets(self) -> bool:
        """Whether all results are what is near, because nothing meets the plan as it was asked."""
        return self.changed and self.near > 0

    @property
    def divides(self) -> bool:
        """Whether the list needs a line where the answers end."""
        return self.last > 0 and self.near > 0


def show_answer(search: Json, relations: Relations | None = None) -> ShownAnswer | None:
    """Return the answer of a described search; None if there is no plan, or if a person gave one that queries nothing.

    `relations` are those of the schema, for their wordings.
    """
    index, answer = search["plan_index"], search.get("answer")
    if index is None or not answer or search["status"] in ("queued", "running", "failed"):
        return None
    entry = search["plans"][index]
    plan = entry["plan"]
    walks = any(plan.get(key) for key in ("anchors", "hops", "filters", "exclude", "order"))
    if not walks and answer["kind"] == "list":
        return None if entry["source"] == "user" else _by_text(search)
    ranks = [result["rank"] for result in search["results"] if result.get("answers")]
    near = len(search["results"]) - len(ranks)
    head, said = _WORDS[answer["kind"]](answer, _Told(search, entry, len(ranks), near, relations or {}))
    if answer["kind"] != "aggregate":
        head, said = _value(search, answer) or (head, said)
    paths = _proofs(search["results"]) if answer["kind"] == "yes" else ()
    probability = entry.get("probability", 1.0)
    # The probability of a changed plan is lower because it covers less; nothing is doubtful about the plan before.
    shown = entry["source"] == "user" or bool(entry.get("given"))
    right = None if entry["source"] == "user" or answer["kind"] != "list" else _right(search)
    doubt = probability if not shown and right is None and probability < DOUBTFUL else None
    return ShownAnswer(
        answer["kind"], head, said, answer["count"], len(ranks), max(ranks, default=0), near, paths, doubt,
        bool(entry.get("given")), bool(answer.get("text")), right,
    )  # fmt: skip


def _right(search: Json) -> float | None:
    """Return the probability that the first result is right; None where there is none, or nothing has learned it."""
    return (search.get("fusion") or {}).get("probability") if search["results"] else None


def _by_text(search: Json) -> ShownAnswer:
    """Return the answer of a plan that looks nothing up in the graph."""
    near = len(search["results"])
    said = "Nothing that was asked could be looked up in the graph."
    said += " What follows is nearest to the text." if near else ""
    return ShownAnswer("list", "No answer", said, 0, 0, 0, near, right=_right(search))


@dataclass(frozen=True, slots=True)
class _Told:
    search: Json
    entry: Json
    here: int
    near: int
    relations: Relations

    @property
    def type(self) -> str:
        """The types of the answers in words, in the plural unless there is just one answer."""
        labels = self.entry["plan"]["target"].get("labels")
        if not labels:
            return "thing" if self.search["answer"]["count"] == 1 else "things"
        one = self.search["answer"]["count"] == 1
        return " or ".join(type_words(label) if one else plural(type_words(label)) for label in labels)

    @property
    def kind(self) -> str:
        """The kind of the answer."""
        return str(self.search["answer"]["kind"])

    @property
    def why_unknown(self) -> str:
        """Why the answer may be incomplete: words or an entity that are not known, or an execution that was cut off.

        With words, it says what was looked at instead.
        """
        asked = self.entry.get("given") or self.entry["plan"]
        if self.kind == "unknown" and (text := asked["target"].get("relevance_text")):
            looked = looked_at_words(asked, self.relations, found=self.search["answer"]["count"] > 0)
            said = f"{_quoted(text)} was not understood, so neither yes nor no is certain."
            return f"{said} {looked}".strip()
        unknown = [_quoted(text) for text in self.search["answer"].get("unbound", ())]
        if unknown:
            return f"{self.search['knowledge_base']} does not know {' and '.join(unknown)}."
        return "Not everything could be looked at in time."

    @property
    def rest(self) -> str:
        """The sentence on the results behind an answer that none of them is; it names the conditions let go."""
        if not self.near or self.here:
            return ""
        changed = [entry for entry in self.search["plans"] if entry.get("given")] if self.entry.get("given") else []
        return let_go_words([entry.get("dropped") or () for entry in changed]) or "What follows is near."

    @property
    def nothing(self) -> str:
        """Why nothing meets the plan as it was asked."""
        return nothing_words(self.entry.get("given") or self.entry["plan"], self.relations)


def _value(search: Json, answer: Json) -> tuple[str, str] | None:
    """Return the value of the field that is asked for, if it is asked of one node, and whose it is."""
    values = answer.get("values") or []
    if answer["count"] != 1 or len(values) != 1:
        return None
    node = next(result["node"] for result in search["results"] if result["node"]["id"] == values[0]["id"])
    if values[0]["value"] is None:
        return "Not known", f"{node['name']} has no {unit_of_name(answer['field'])[0]} here."
    named, said = amount_words(answer["field"], values[0]["value"])
    return said, f"{named} of {node['name']}."


def _list(answer: Json, told: _Told) -> tuple[str, str]:
    count = answer["count"]
    if not count:
        why = told.nothing if answer["complete"] else told.why_unknown
        return "No answer", f"{why} {told.rest}".strip()
    number = f"{'' if answer['complete'] else 'at least '}{count:,}"
    text = answer.get("text")
    head = f"{number} {'possible ' if text else ''}answer{'' if count == 1 else 's'}".capitalize()
    said = ["of the plan"]
    if text:
        said.append(f"only {'its text' if count == 1 else 'their texts'} can say {_quoted(text)}")
    if told.here < count:
        said.append(_here_words(told.here, likeliest=bool(text)))
    elif told.near:
        said.append("what follows the line is near")
    return head, f"{'; '.join(said)}."


def _quoted(text: str) -> str:
    """Return words of the question between quotation marks, cut where a sentence would no longer be read."""
    return f"“{Truncator(text).chars(MOST_QUOTED)}”"


def _here_words(here: int, *, likeliest: bool) -> str:
    """Return how many of the answers are among the results."""
    if not here:
        return "none of them is here"
    which = "likeliest" if likeliest else "first"
    return f"the {which} is here" if here == 1 else f"the {which} {here} are here"


def _number(answer: Json, told: _Told) -> tuple[str, str]:
    head = f"{answer['value']:,}"
    if not answer["complete"]:
        return f"At least {head}", f"{told.type}, counted in the graph. {told.why_unknown}"
    rest = "What follows the line is near." if answer["value"] and told.near else told.rest
    if text := answer.get("text"):
        rest = f"Only their texts can say {_quoted(text)}, which was not counted. {rest}".strip()
        return f"At most {head}", f"{told.type}, counted in the graph. {rest}"
    return head, f"{told.type}, counted in the graph. {rest}".strip()


def _aggregate(answer: Json, told: _Told) -> tuple[str, str]:
    """Return the value that was computed, and from how many answers; the others do not have the field."""
    one, count = answer["aggregate"], answer["count"]
    if not count:
        return "No answer", f"{told.nothing if answer['complete'] else told.why_unknown} {told.rest}".strip()
    field, nodes = unit_of_name(one["field"])[0], one["nodes"]
    found = f"{count:,} {told.type}"
    if one["value"] is None:
        verb = "has" if count == 1 else "have"
        return "Not known", f"{found} {verb} no {field} here. {'' if answer['complete'] else told.why_unknown}".strip()
    some = "" if nodes == count else f"{nodes:,} of "
    said = [f"{aggregate_words(one['function'], one['field'])} of {some}{found}".capitalize()]
    said[0] += f"; the others have no {field} here." if some else "."
    said += [] if answer["complete"] else [told.why_unknown]
    if text := answer.get("text"):
        said.append(f"Only their texts can say {_quoted(text)}, which was not looked at.")
    elif told.near:
        said.append("What follows the line is near." if told.here else told.rest)
    return amount_words(one["field"], shown_number(one["value"]))[1], " ".join(said)


def _yes(answer: Json, told: _Told) -> tuple[str, str]:
    count = answer["count"]
    return "Yes", f"{count:,} {told.type} {'meets' if count == 1 else 'meet'} the plan." if count > 1 else ""


def _no(answer: Json, told: _Told) -> tuple[str, str]:
    return "No", f"The graph was looked through: {told.nothing[:1].lower()}{told.nothing[1:]} {told.rest}".strip()


def _unknown(answer: Json, told: _Told) -> tuple[str, str]:
    return "Not known", f"{told.why_unknown} {told.rest}".strip()


_WORDS = {"list": _list, "number": _number, "aggregate": _aggregate, "yes": _yes, "no": _no, "unknown": _unknown}


def _proofs(results: Sequence[Json]) -> tuple[str, ...]:
    """Return the paths of the first answer."""
    first = next((result for result in results if result.get("answers")), None)
    paths = first["evidence"]["paths"] if first and first["evidence"] else []
    return tuple(path_text(path) for path in paths[:MOST_PROOFS] if path)


def order_value(order: Json, value: Any, relations: Relations) -> str:
    """Return the value that orders an answer, in words: `founded 1836`, `is cited by 14`, `price not known`."""
    by = order["by"]
    if "field" in by:
        return measured(by["field"], value)
    count = by["count"]
    relation = relations.get(count["rel"])
    said = words(count["rel"]) if count["rel"] != "*" else "edges"
    if relation is not None:
        wording = relation.inverse if count.get("direction") == "in" else relation.description
        said = wording or (f"{said} (incoming)" if count.get("direction") == "in" else said)
    return f"{said} {0 if value is None else _number_words(value)}"


def measured(field: str, value: Any) -> str:
    """Return a field with its value: `weight 2180 g`, `price not known`."""
    if value is None:
        return f"{unit_of_name(field)[0]} not known"
    return " ".join(amount_words(field, value))


def _number_words(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and abs(value) >= GROUPED else f"{value}"


def order_text(order: Json, relations: Relations) -> str:
    """Return an order in words: `founded, least first`, `number of products it makes, most first`."""
    count = order["by"].get("count")
    relation = relations.get(count["rel"]) if count else None
    wording = (relation.inverse if count.get("direction") == "in" else relation.description) if relation else ""
    said = order_words(order)
    if not wording:
        return said
    far = plural(words(count["to_label"])) if count.get("to_label", "*") != "*" else "things"
    return ", ".join([f"number of {far} it {wording}", *said.split(", ")[1:]])


def plural(noun: str) -> str:
    """Return the regular English plural of a type's name."""
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def place_words(place: int, shared: bool) -> str:
    """Return a place in an order; equal values share one."""
    return f"place {place}, shared" if shared else f"place {place}"
