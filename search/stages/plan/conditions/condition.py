"""A condition: what one cue of a question means as a part of one candidate plan, and how surely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from search.domain.graph import DIRECTIONS, Direction, NodeType
from search.domain.plan import Anchor, Ask, Exclusion, Filter, Hop, Order
from search.language.cues import Span
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge


@dataclass(frozen=True, slots=True)
class Condition:
    """One meaning of a cue: parts of a plan.

    `cue` is the span of the words that ask for it: meanings of the same cue are alternatives. `score` in [0, 1] says
    how well the meaning fits the words. `spans` are the spans of the question that it expresses, `names` the positions
    of the names that it uses, `columns` the columns of the lexicon for its relations and types. `turning` says that it
    is a meaning of a turning word. `hops` lead from the answer to a node that `filters` are about. `show` is the field
    whose values are asked for. `of_kinds` says that it is about kinds of a named node instead of the node itself.
    """

    cue: Span
    score: float
    filters: tuple[Filter, ...] = ()
    exclude: tuple[Exclusion, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    order: Order | None = None
    ask: Ask = "which"
    spans: tuple[Span, ...] = ()
    names: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    turning: bool = False
    hops: tuple[Hop, ...] = ()
    show: str = ""
    of_kinds: bool = False

    @property
    def selects(self) -> bool:
        """Whether nodes may fail the condition."""
        return bool(self.filters or self.exclude or self.hops)


@dataclass(frozen=True)
class Core:
    """A candidate plan to which conditions are bound, with the question and what is known of the schema."""

    question: AnalysedQuestion
    candidate: PlanCandidate
    knowledge: Knowledge

    @cached_property
    def type_code(self) -> int:
        """Code of the answer type."""
        return self.candidate.types[0]

    @cached_property
    def kind(self) -> NodeType:
        """The answer type."""
        return self.knowledge.schema.node_types[self.type_code]

    @cached_property
    def variables(self) -> tuple[tuple[str, int], ...]:
        """The variables inside the branches with the codes of their types; named as `Writer` names them."""
        return tuple(
            (f"x{at}{position}", step.to_type)
            for at, path in enumerate(self.candidate.paths, 1)
            for position, step in enumerate(path.steps[:-1], 1)
        )

    def ways(self, relation: int) -> list[Direction]:
        """Return the directions in which the answer type has a relation; one of two that mean the same."""
        both = DIRECTIONS
        found = [way for way in both if self.knowledge.shape.far_ends(self.type_code, relation, way)]
        return found[:1] if self.knowledge.schema.relations[relation].mutual else found


def best(conditions: Sequence[Condition], most: int) -> list[Condition]:
    """Return the meanings with the highest scores, best first, without those that score 0."""
    return sorted((one for one in conditions if one.score > 0), key=lambda one: -one.score)[:most]
