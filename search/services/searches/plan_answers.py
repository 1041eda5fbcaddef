"""plan_answers: all answers of a search's plan, however many. The plan is executed again with its recorded bindings.

A search records only the first answers. The others are the same each time: the release and the bindings are recorded.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings

from search import wiring
from search.domain.errors import PlanInvalid, StageError
from search.domain.linking import Placed
from search.domain.plan import Plan
from search.domain.ranking import CandidateArrays
from search.domain.trace import Limit
from search.interfaces import Keys
from search.models import SearchRun
from search.services.searches.describe_search import Outputs, outputs_of, shown_plan
from search.services.searches.recorded_plan import recorded_plan
from search.text import field_text, words

ANSWERS_SECONDS = 5.0
"""Time limit in seconds of the execution of the plan."""
MOST_KEPT = 20_000
"""Answers of a plan that are kept for its next page; a plan with more is executed again."""
PLANS_KEPT = 32
"""Plans whose answers are kept."""
ROWS_READ = 500
"""Whole nodes that are read at once for a table."""


@dataclass(frozen=True, eq=False)
class PlanAnswers:
    """The keys of all answers of the shown plan, in the plan's order, and the place of each if it has an order.

    `complete` says that there are no further ones. `reason` is a sentence that explains why the answers are not known,
    or empty; then `keys` is empty.
    """

    plan: Plan | None = None
    keys: Keys = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    placed: Sequence[Placed] = ()
    complete: bool = False
    reason: str = ""

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class ListedAnswer:
    """An answer on a page: its number from 1, the node, and its place in the plan's order, if the plan has one.

    `equal` says whether its neighbours in the order share its place.
    """

    number: int
    node: dict[str, str]
    placed: Placed | None = None
    equal: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return number and node, and with an order the value and the place."""
        written: dict[str, Any] = {"number": self.number, "node": self.node}
        return written if self.placed is None else written | self.placed.to_json() | {"equal": self.equal}


_kept: OrderedDict[tuple[UUID, int], PlanAnswers] = OrderedDict()
_keeping = threading.Lock()


def plan_answers(run: SearchRun, seconds: float = ANSWERS_SECONDS) -> PlanAnswers:
    """Return all answers of the plan that the search shows; `seconds` limits the execution of the plan."""
    output = outputs_of(run.steps.all())
    index, _ = shown_plan(output)
    reason = _why_none(run, output, index)
    if reason or index is None:
        return PlanAnswers(reason=reason)
    known = (run.pk, index)
    with _keeping:
        if known in _kept:
            _kept.move_to_end(known)
            return _kept[known]
    try:
        answers = _executed(run, output, index, seconds)
    except PlanInvalid:
        return PlanAnswers(reason="The schema has changed since, so the plan cannot be executed any more.")
    except StageError as error:
        return PlanAnswers(reason=f"The answers could not be looked up: {error.reason}.")
    if len(answers) <= MOST_KEPT:
        with _keeping:
            _kept[known] = answers
            while len(_kept) > PLANS_KEPT:
                _kept.popitem(last=False)
    return answers


def _why_none(run: SearchRun, output: Outputs, index: int | None) -> str:
    """Return why the plan has no answers that could be listed, or an empty text."""
    if index is None:
        return "This pipeline uses no plan, so there are no answers apart from the results."
    if output.plans.entries[index].given is not None:
        return "The plan found nothing as it was asked, so it has no answers."
    if run.release is None:
        return "The release that was searched has been deleted, so its answers cannot be listed."
    if "graph" not in settings.GRASP_TOOLS:
        return "This site has no engine that executes plans."
    return ""


def _executed(run: SearchRun, output: Outputs, index: int, seconds: float) -> PlanAnswers:
    assert run.release is not None
    tools = wiring.tools(run.release, run.settings_version)
    linked = recorded_plan(output, index, tools)
    if not linked.is_executable:
        return PlanAnswers(linked.plan, reason="The plan follows nothing in the graph, so it has no answers.")
    found = tools.graph.execute(linked, Limit.seconds(seconds), run.release.snapshot.nodes)
    keys = CandidateArrays.of(found.candidates).node_keys.astype(np.int32)
    placed = tuple(found.placed[key] for key in keys.tolist()) if found.placed else ()
    return PlanAnswers(linked.plan, keys, placed, not found.truncated)


def forget_answers() -> None:
    """Drop the kept answers of all plans."""
    with _keeping:
        _kept.clear()


def page_of(answers: PlanAnswers, run: SearchRun, first: int, size: int) -> list[ListedAnswer]:
    """Return at most `size` answers from the position `first` on, which counts from 0."""
    keys = answers.keys[first : first + size].tolist()
    if not keys or run.release is None:
        return []
    nodes = wiring.tools(run.release, run.settings_version).nodes.references(keys)
    return [
        ListedAnswer(first + at + 1, node.to_json(), *_place(answers.placed, first + at))
        for at, node in enumerate(nodes)
    ]


@dataclass(frozen=True)
class AnswerSlices:
    """The answers as a sequence that reads only the nodes of the slice that is asked for."""

    answers: PlanAnswers
    run: SearchRun

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, part: slice) -> list[ListedAnswer]:
        first, end, _ = part.indices(len(self.answers))
        return page_of(self.answers, self.run, first, end - first)


def _place(placed: Sequence[Placed], at: int) -> tuple[Placed | None, bool]:
    """Return the place of the answer at a position, and whether a neighbour shares it."""
    if not placed:
        return None, False
    near = [placed[other].place for other in (at - 1, at + 1) if 0 <= other < len(placed)]
    return placed[at], placed[at].place in near


def answer_rows(answers: PlanAnswers, run: SearchRun) -> Iterator[list[str | int | float]]:
    """Yield the header of a table, then a row for each answer with all fields of the target's types.

    The nodes are read `ROWS_READ` at a time, so that any number of answers needs little memory; `search.tables` makes
    the cells harmless.
    """
    placed = ["place", "value"] if answers.placed else []
    if not len(answers) or run.release is None:
        yield ["number", *placed, "id", "type", "name"]
        return
    tools = wiring.tools(run.release, run.settings_version)
    codes = np.unique(tools.nodes.types(answers.keys)).tolist()
    names = list(dict.fromkeys(one.name for code in codes for one in tools.schema.node_types[code].fields))
    yield ["number", *placed, "id", "type", "name", *names]
    for first in range(0, len(answers), ROWS_READ):
        nodes = tools.nodes.nodes(answers.keys[first : first + ROWS_READ].tolist())
        for at, node in enumerate(nodes, first):
            one = answers.placed[at] if answers.placed else None
            given = [] if one is None else [one.place, _cell(one.value)]
            told = (node.id, words(node.type), node.name)
            yield [at + 1, *given, *told, *(_cell(node.fields.get(name)) for name in names)]


def _cell(value: Any) -> str | int | float:
    if value is None:
        return ""
    return value if isinstance(value, int | float) else field_text(value)
