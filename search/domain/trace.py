"""The record of one run: status, duration and output of each step. It is the only mutable object of a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from search.domain.budget import Budget, ModelUse
from search.domain.conditions import CheckedConditions
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.evidence import Result
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan, Traversal
from search.domain.plan import ScoredPlan
from search.domain.ranking import Ranking

StepStatus = Literal["ok", "degraded", "failed", "skipped"]
StepRole = Literal[
    "plan", "link", "graph", "recover", "graph list", "text list", "list", "fusion", "check", "rerank", "explain",
    "expand", "follow up", "other",
]  # fmt: skip
"""The purpose of a step, independent of its name in the pipeline. Code that reads a trace uses roles, not names.

`plan` lists plans, `link` binds their anchors to nodes, `graph` executes them, `recover` changes plans that found
nothing. `graph list`, `text list` and `list` return a ranked list: of nodes found in the graph, of documents, or of
any other origin. A pipeline may have several steps of each of these three. `fusion` combines several lists into one,
`check` checks which conditions the candidates meet, `rerank` reorders the fused list, `explain` returns the explained
results. `expand` changes the question before the other steps use it. `follow up` reads a question that follows
another search. `other` is any other step.
"""
ROLES: tuple[StepRole, ...] = get_args(StepRole)
LIST_ROLES: frozenset[StepRole] = frozenset({"graph list", "text list", "list"})
"""Roles of steps that return a ranked list."""
OUTPUT_TYPES: Mapping[StepRole, tuple[type, ...]] = {
    "plan": (ScoredPlan,), "link": (LinkedPlan,), "graph": (Traversal,), "explain": (Result,),
    "graph list": (GraphRanking,), "text list": (Ranking, Fusion), "list": (Ranking, Fusion),
    "fusion": (Fusion,), "check": (CheckedConditions,), "rerank": (Fusion,),
}  # fmt: skip
"""Output types of each role. The first four roles return a list of the type. Roles not listed may return anything."""
GIVES_SEVERAL: frozenset[StepRole] = frozenset({"plan", "link", "graph", "explain"})
VERSION = 2
"""Version of the recorded format. Steps of version 1 had names but no roles."""
ROLES_OF_VERSION_1: Mapping[str, StepRole] = {
    "plan": "plan", "link": "link", "traverse": "graph", "recover": "recover", "rescore": "graph list",
    "retrieve": "text list", "bm25": "text list", "vss": "text list", "fuse": "fusion", "rerank": "rerank",
    "explain": "explain",
}  # fmt: skip
"""Role of each step name that existed in version 1."""

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Limit:
    """The time limit of a run, and whether its cancellation was requested.

    `ends` is a time on the monotonic clock, in seconds. `cancelled` is called at every check and must be fast. `budget`
    is what the run may spend on language models; it is counted there. Stages derive their limits from the one that they
    are given (`share`, `at_most`), so that all of a run's calls count in one budget.
    """

    ends: float = float("inf")
    cancelled: Callable[[], bool] = field(default=lambda: False)
    budget: Budget | None = field(default=None, compare=False)

    @classmethod
    def seconds(
        cls, seconds: float, cancelled: Callable[[], bool] = lambda: False, budget: Budget | None = None
    ) -> Limit:
        """Return a limit that ends `seconds` seconds from now."""
        return cls(time.monotonic() + seconds, cancelled, budget)

    def share(self, part: float) -> Limit:
        """Return a limit that ends after the fraction `part` of the time left, and is cancelled with this one."""
        return replace(self, ends=time.monotonic() + part * self.remaining())

    def at_most(self, seconds: float) -> Limit:
        """Return a limit that ends `seconds` from now, but not after this one, and is cancelled with this one."""
        return replace(self, ends=min(self.ends, time.monotonic() + seconds))

    def remaining(self) -> float:
        """Return the seconds left, never below zero."""
        return max(0.0, self.ends - time.monotonic())

    def check(self, stage: str) -> None:
        """Raise SearchCancelled or DeadlineExceeded when the run has to stop."""
        if self.cancelled():
            raise SearchCancelled()
        if time.monotonic() >= self.ends:
            raise DeadlineExceeded(stage)


@dataclass(slots=True)
class Step:
    """One step: name, role, backend, status, duration in seconds, a sentence for people, and its output as JSON.

    If the step asked a language model, `tokens` holds the number of its tokens by kind and of its calls
    (`search.domain.budget.ModelUse.since`), and `prompt_fingerprint` the version of the prompt.
    """

    name: str
    role: StepRole
    backend: str = ""
    status: StepStatus = "ok"
    seconds: float = 0.0
    detail: str = ""
    output: Any = None
    prompt_fingerprint: str = ""
    tokens: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the step with its output."""
        return {
            "name": self.name, "role": self.role, "backend": self.backend, "status": self.status,
            "seconds": self.seconds, "detail": self.detail, "output": self.output,
            "prompt_fingerprint": self.prompt_fingerprint, "tokens": self.tokens,
        }  # fmt: skip


class StepOutput(list[T]):
    """A list that a step returns, with the step's status and a sentence about it for people."""

    def __init__(self, items: Iterable[T] = (), detail: str = "", status: StepStatus = "ok") -> None:
        super().__init__(items)
        self.detail = detail
        self.status = status


class Trace:
    """The recorded steps of a run, with their durations.

    `observe` is called with each finished step, so that a page can show the step at once.
    """

    def __init__(self, limit: Limit | None = None, observe: Callable[[Step], None] | None = None) -> None:
        self.limit = limit or Limit()
        self.steps: list[Step] = []
        self._observe = observe

    def step(self, name: str, role: StepRole, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of `fn(*args, **kwargs)`; record its duration in seconds and its output (`to_json`).

        `name` is the pipeline's name for the step, `role` its purpose. The backend's name is the `backend` attribute of
        `fn`, or of the object that the method `fn` is bound to.

        Raises every exception of `fn` again, and TypeError if the result does not have the type of the role. If
        the time limit has passed before the start, the step is recorded as failed and DeadlineExceeded is raised. If
        the run was cancelled before the start, nothing is recorded and SearchCancelled is raised.
        """
        step = Step(name, role, backend=_backend(fn), status="failed", detail="stopped by an unexpected error")
        try:
            self.limit.check(name)
        except DeadlineExceeded as error:
            step.detail = error.reason
            self._record(step)
            raise
        began, spent = time.perf_counter(), self._spent()
        try:
            result = fn(*args, **kwargs)
        except StageError as error:
            step.detail = error.reason
            raise
        except SearchCancelled as error:
            step.detail = str(error)
            raise
        else:
            _check_type(name, role, result)
            step.output = _as_json(result)
            step.detail = str(getattr(result, "detail", "") or "")
            step.status = getattr(result, "status", None) or "ok"
            step.tokens = dict(getattr(result, "tokens", None) or {})
            step.prompt_fingerprint = str(getattr(result, "prompt_fingerprint", "") or "")
            return result
        finally:
            step.seconds = time.perf_counter() - began
            step.tokens = self._spent().since(spent) or step.tokens
            self._record(step)

    def skip(self, name: str, role: StepRole, why: str) -> None:
        """Record a stage that this run skips, with the reason that the user sees."""
        self._record(Step(name, role, status="skipped", detail=why))

    def add(self, step: Step) -> None:
        """Record a step that was done and measured apart from the trace."""
        self._record(step)

    def degrade(self, why: str) -> None:
        """Mark the newest step as degraded: the run continues without the complete output of the step."""
        self.steps[-1].status, self.steps[-1].detail = "degraded", why
        if self._observe is not None:
            self._observe(self.steps[-1])

    def output(self, name: str) -> Any:
        """Return the JSON output of the newest step with this name, or None."""
        return next((step.output for step in reversed(self.steps) if step.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Return the whole trace, with the version of its format."""
        return {"version": VERSION, "steps": [step.to_json() for step in self.steps]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Trace:
        """Return the trace that `to_json` wrote. Raises ValueError for a version that this code does not know.

        The steps of version 1 get their roles from their names (`ROLES_OF_VERSION_1`).
        """
        version = data.get("version")
        if version not in (1, VERSION):
            raise ValueError(f"The trace has version {version}; this code reads versions 1 and {VERSION}.")
        trace = cls()
        for step in data["steps"]:
            roles = {"role": ROLES_OF_VERSION_1.get(step["name"], "other")} if version == 1 else {}
            trace.steps.append(Step(**step | roles))
        return trace

    def _spent(self) -> ModelUse:
        return self.limit.budget.use if self.limit.budget is not None else ModelUse()

    def _record(self, step: Step) -> None:
        self.steps.append(step)
        if self._observe is not None:
            self._observe(step)


def _backend(fn: Callable[..., object]) -> str:
    """Return the `backend` attribute of the callable or of its object, or an empty string."""
    for owner in (fn, getattr(fn, "__self__", None)):
        backend = getattr(owner, "backend", None)
        if isinstance(backend, str):
            return backend
    return ""


def _check_type(name: str, role: StepRole, result: object) -> None:
    """Raise TypeError if a result does not have the type of its role; of a list, only the first entry is checked."""
    wanted = OUTPUT_TYPES.get(role)
    if wanted is None:
        return
    several = role in GIVES_SEVERAL
    said = " or ".join(kind.__name__ for kind in wanted)
    if not several:
        if not isinstance(result, wanted):
            raise TypeError(f"{name!r} has the role {role!r}: it gives {said}, not {type(result).__name__}.")
    elif not isinstance(result, list | tuple) or not all(isinstance(item, wanted) for item in result[:1]):
        raise TypeError(f"{name!r} has the role {role!r}: it gives a list of {said}, not {result!r:.80}.")


def _as_json(result: object) -> Any:
    to_json = getattr(result, "to_json", None)
    if callable(to_json):
        return to_json()
    if isinstance(result, list | tuple):
        return [_as_json(item) for item in result]
    return result if isinstance(result, str | int | float | bool | dict) or result is None else repr(result)
