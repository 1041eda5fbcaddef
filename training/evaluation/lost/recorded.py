"""Reads the recorded steps of a search as typed outputs, by role."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from search.domain.payloads import (
    Fused,
    GraphListed,
    Links,
    Listed,
    Payload,
    Plans,
    Recovery,
    Traversals,
    read_payload,
)
from search.domain.ranking import RECORDED_ENTRIES
from search.domain.trace import LIST_ROLES, StepRole
from training.evaluation.lost.facts import Held, ListStep

MERGING_ROLES: frozenset[StepRole] = frozenset({"fusion", "rerank"})


class RecordedStep(Protocol):
    """A step as it was stored: `SearchStep`, or a double in tests."""

    name: str
    role: str
    status: str
    detail: str
    output: Any
    version: int


@dataclass(frozen=True)
class TypedStep:
    """A step with its output as a type."""

    name: str
    role: StepRole
    status: str
    detail: str
    payload: Payload | None


@dataclass(frozen=True)
class Recorded:
    """The typed steps of a search, and the latest output of each role of the graph's branch.

    `lists` are the steps that returned a list, in the order in which they ran.
    """

    steps: tuple[TypedStep, ...]
    plans: Plans
    links: Links
    found: Traversals
    recovery: Recovery | None
    graph: GraphListed | None
    lists: tuple[TypedStep, ...]

    @classmethod
    def of(cls, steps: Iterable[RecordedStep]) -> Recorded:
        """Return the typed steps. Raises UnreadablePayload if an output does not have the form of its role."""
        typed = tuple(
            TypedStep(one.name, one.role, one.status, one.detail, read_payload(one.role, one.output, one.version))  # type: ignore[arg-type]
            for one in steps
        )
        latest: dict[str, Payload] = {one.role: one.payload for one in typed if one.payload is not None}
        plans, links, found = latest.get("plan"), latest.get("link"), latest.get("graph")
        recovery, graph = latest.get("recover"), latest.get("graph list")
        return cls(
            typed,
            plans if isinstance(plans, Plans) else Plans(),
            links if isinstance(links, Links) else Links(),
            found if isinstance(found, Traversals) else Traversals(),
            recovery if isinstance(recovery, Recovery) else None,
            graph if isinstance(graph, GraphListed) else None,
            tuple(one for one in typed if one.role in LIST_ROLES | MERGING_ROLES and one.payload is not None),
        )

    @property
    def problems(self) -> dict[StepRole, str]:
        """Role → reason of each failed step of the graph's branch, and of a step after which the branch was given up.

        A step that is only degraded and has an output gave what the later steps worked with.
        """
        broken = {"plan", "link", "graph", "recover", "graph list"}
        return {
            one.role: one.detail
            for one in self.steps
            if one.role in broken and one.payload is None and one.status in ("failed", "degraded")
            and (one.role != "recover" or self.graph is None)
        }  # fmt: skip


def listed_of(payload: Payload | None) -> Listed:
    """Return the list of a step's output; that of a fusion is the fused list."""
    if isinstance(payload, Fused):
        return payload.ranking
    if isinstance(payload, GraphListed):
        return payload.listed
    return payload if isinstance(payload, Listed) else Listed()


def inputs_of(payload: Payload | None) -> Mapping[str, Listed]:
    """Return the lists that a step's output combines."""
    return payload.rankings if isinstance(payload, Fused) else {}


def held(name: str, listed: Listed, expected: Iterable[str], depth: int | None = None) -> Held:
    """Return the places of the expected answers in the recorded entries of a list of at most `depth` entries."""
    kept = len(listed.ids)
    whole = listed.total <= kept or kept < RECORDED_ENTRIES or (depth is not None and depth <= kept)
    return Held.of(name, listed.ids, expected, kept if whole else listed.total, whole)


def input_name(step: str, role: StepRole, name: str) -> str:
    """Return the name of a list that a step combines: inside a list step it is the step's own list."""
    return f"{step}/{name}" if role in LIST_ROLES else name


def list_step(step: TypedStep, expected: Iterable[str], depth: int | None = None) -> ListStep:
    """Return a step that returned a list, with the places of the expected answers in its recorded entries.

    `depth` is the stage's option of that name: the largest length of its list and of the lists that it combines.
    """
    wanted = tuple(expected)
    inner = step.role in LIST_ROLES
    return ListStep(
        step.name,
        step.role,
        held(step.name, listed_of(step.payload), wanted, depth),
        tuple(
            held(input_name(step.name, step.role, name), one, wanted, depth if inner else None)
            for name, one in inputs_of(step.payload).items()
        ),
    )
