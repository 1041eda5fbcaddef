"""What the first plan of one question found, as a line of a file that later runs are compared with."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from search import wiring
from search.domain.errors import StageError
from search.domain.linking import LinkedPlan
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import LinkStage, PlanStage
from search.management.shown_search import plan_line
from search.models import KnowledgeBase
from search.services.searches.pin_searches import pin_searches
from training.data.examples import Example

ROWS = 1_000_000
"""Answers of a plan at most."""
SECONDS = 30.0
"""Time limit of planning a question, and of executing its plan."""
NAMES = 5
"""Names of found nodes, and of answers, that an outcome keeps."""
SURE = 0.8
"""A first plan with at least this probability is called sure."""


@dataclass(frozen=True)
class ReadOutcome:
    """The first plan of a question, and what it found.

    `right` says that the first answer is right, `whole` that the answers are those that were expected, all and no
    other. `probability` is that of the plan; None if the plan leaves the question to texts, so that it finds nothing by
    itself. `wanted` and `found` are names, with their numbers. `seconds` is processor time of planning.
    """

    set: str
    base: str
    id: str
    text: str
    kind: str
    right: bool
    whole: bool
    probability: float | None
    plans: tuple[str, ...]
    wanted: tuple[str, ...]
    found: tuple[str, ...]
    answers: int
    answered: int
    seconds: float
    error: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether the plan is called sure."""
        return self.probability is not None and self.probability >= SURE

    @property
    def is_sure_and_wrong(self) -> bool:
        """Whether the plan is called sure, and its first answer or its set of answers is wrong."""
        return self.is_sure and not (self.right and self.whole)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ReadOutcome:
        """Return the outcome that `to_json` wrote. Raises KeyError, TypeError."""
        listed = {name: tuple(data[name]) for name in ("plans", "wanted", "found")}
        return cls(**{one.name: data[one.name] for one in fields(cls)} | listed)

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return asdict(self)


@dataclass(frozen=True)
class Reader:
    """The planner of a base, and what executes its plans exactly: no text, no recovery, no reranker."""

    base: str
    tools: wiring.Tools
    planner: PlanStage
    link: LinkStage

    @classmethod
    def of(cls, base: str, options: Sequence[str] = ()) -> Reader:
        """Return the reader of a base's active release.

        `options` are options of the pipeline, such as `plan.temperature=2`. Raises InvalidRequest.
        """
        choice = " ".join(["grasp", *options])
        (pin,) = pin_searches(knowledge_base=base, pipelines=[choice], settings={}).values()
        tools = wiring.tools(pin.release, pin.settings_version)
        stages = wiring.pipeline("grasp").compose(dict(pin.specification), tools)
        # The planner alone: what a language model might add is no part of it.
        return cls(base, tools, getattr(stages.plan, "planner", stages.plan), stages.link)

    def planned(self, text: str) -> tuple[list[ScoredPlan], float]:
        """Return the plans of a question, best first, and the processor time that planning took, in seconds."""
        began = time.process_time()
        plans = self.planner(Question(text), Limit.seconds(SECONDS))
        return list(plans), time.process_time() - began

    def executed(self, plan: ScoredPlan) -> list[int]:
        """Return the keys of all nodes that a plan finds, the first answer first; none if it leaves all to texts."""
        linked = self.linked(plan)
        if not linked.is_executable:
            return []
        found = self.tools.graph.execute(linked, Limit.seconds(SECONDS), ROWS)
        return [candidate.key for candidate in found.candidates]

    def linked(self, plan: ScoredPlan) -> LinkedPlan:
        """Return a plan with its anchors bound; the plans inside its anchors are executed."""
        return self.link([plan], Limit.seconds(SECONDS))[0]

    def outcome(self, of: str, example: Example) -> ReadOutcome:
        """Return the outcome of a question of the set `of`; one that raises StageError is told in its `error`."""
        plans, keys, seconds, error = list[ScoredPlan](), list[int](), 0.0, ""
        try:
            plans, seconds = self.planned(example.text)
            keys = self.executed(plans[0])
        except StageError as problem:
            error = problem.reason
        expected = {key for key in self.tools.nodes.keys(example.answers) if key is not None}
        walks = bool(plans) and (bool(plans[0].plan.anchors) or plans[0].plan.runs_over_type)
        return ReadOutcome(
            of, self.base, example.id, example.text, example.slices["kind"],
            right=bool(keys) and keys[0] in expected,
            whole=set(keys) == expected,
            probability=plans[0].probability if walks else None,
            plans=tuple(f"{one.probability:.2f} {plan_line(one.plan.to_json())}" for one in plans[:3]),
            wanted=self._names(sorted(expected)), found=self._names(keys),
            answers=len(expected), answered=len(keys), seconds=round(seconds, 5), error=error,
        )  # fmt: skip

    def _names(self, keys: Sequence[int]) -> tuple[str, ...]:
        return tuple(node.name for node in self.tools.nodes.references(keys[:NAMES])) if keys else ()


def imported(names: Sequence[str]) -> Iterator[str]:
    """Yield those of the names that are knowledge bases with an active release."""
    there = set(KnowledgeBase.objects.filter(active_release__isnull=False).values_list("name", flat=True))
    yield from (name for name in names if name in there)
