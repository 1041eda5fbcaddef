"""The answer above the results: its line, how sure it is, and the buttons that would settle what is open."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.views.shown.written import ShownWritten, show_written

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SettlingButton:
    """A button that asks again: with a plan as JSON, or with another question. `chosen` is the reading shown below."""

    sentence: str
    plan: str = ""
    question: str = ""
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """What a search answers: `line` in one line, `because` how sure that is, `verdict` in one word.

    `count` is the number of answers in the graph, `here` how many of them are among the results. `choices` are the
    readings to choose from, `settle` what would settle a doubt.
    """

    line: str
    verdict: str
    because: str
    count: int
    here: int
    single: bool = False
    """Whether the answer is one thing beside the results: a number, a computed value, yes or no."""
    choices: tuple[SettlingButton, ...] = ()
    settle: tuple[SettlingButton, ...] = ()
    right: float | None = None
    """Calibrated probability that the first result is right, where a ranker ordered the list and has learned it."""
    of_made: bool = False
    """Whether that ranker has learned from made questions alone."""
    written: ShownWritten | None = None
    """The answer in sentences, None if nothing answers."""

    @property
    def elsewhere(self) -> bool:
        """Whether there are answers that are not among the results."""
        return self.verdict != "none" and self.count > self.here

    @property
    def open(self) -> bool:
        """Whether the answers are only possible ones."""
        return self.verdict == "unsure"


def show_answer(search: Json) -> ShownAnswer | None:
    """Return the answer of a described search; None before it is done."""
    answer = search["answer"]
    if answer["verdict"] is None:
        return None
    choices = [
        SettlingButton(one["sentence"], _plan(one["plan"]), chosen=one["plan_index"] == search["plan_index"])
        for one in search["clarify"]
    ]
    settle = [
        SettlingButton(one["sentence"], _plan(one.get("plan")), one.get("question", search["question"]))
        for one in answer["settle"]
    ]
    here = sum(bool(result["answers"]) for result in search["results"])
    right = (search["fusion"] or {}).get("probability") if search["results"] and answer["kind"] == "list" else None
    told = answer["line"], answer["verdict"], answer["because"], answer["count"]
    written = show_written(search["question"], answer["written"])
    return ShownAnswer(*told, here, _is_single(answer), tuple(choices), tuple(settle), right, written=written)


def _is_single(answer: Json) -> bool:
    return answer["kind"] in ("number", "aggregate", "yes", "no") and answer["verdict"] != "none"


def _plan(plan: Json | None) -> str:
    return json.dumps(plan, ensure_ascii=False) if plan else ""


def near_words(conditions: Sequence[Any], *, excluded: bool, otherwise: str) -> str:
    """Return in one sentence what a result that is no answer meets, and what not.

    `otherwise` is the reading that it answers, if that is another one than the shown one.
    """
    if otherwise:
        return f"Fits another meaning: {otherwise}."
    if excluded:
        return "Excluded by the question."
    checked = [one for one in conditions if one.kind not in ("text", "order")]
    met = list(dict.fromkeys(one.label for one in checked if one.status == "met"))
    missed = list(dict.fromkeys(one.label for one in checked if one.status in ("not_met", "dropped")))
    if not met and not missed:
        return "Only its text is close to the question."
    if not missed:
        said = f"{' and '.join(met)}; the rest was not checked"
    else:
        said = f"{' and '.join(met)}, but not: {' nor '.join(missed)}" if met else f"not: {' nor '.join(missed)}"
    return f"{said[:1].upper()}{said[1:]}."


def place_words(place: int, shared: bool) -> str:
    """Return a place in an order; equal values share one."""
    return f"place {place}, shared" if shared else f"place {place}"
