"""The planner that needs no language model: a grammar reads the question (docs/planning.md)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.interfaces import (
    Adjacency,
    Columns,
    Encoder,
    MentionIndex,
    NodeStore,
    PlanScorers,
    TextIndex,
    ValueIndex,
    VectorIndex,
)
from search.language.soft_names import SoftTools
from search.language.tokens import tokens
from search.stages.plan.annotate import MOST_TOKENS
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.read import Reader
from search.stages.plan.sparse import Elements, LearnedScorer


@dataclass(frozen=True)
class Planner:
    """Question → plans, best first; the rest of their probabilities is that no plan is right."""

    mentions: MentionIndex
    adjacency: Adjacency
    encoder: Encoder
    nodes: NodeStore
    schema: Schema
    columns: Columns
    plan_scorers: PlanScorers | None = None
    values: ValueIndex | None = None
    text: TextIndex | None = None
    vectors: VectorIndex | None = None
    plans: int = option(10, "Largest number of plans executed for a question.", low=1, high=50, public_high=20)
    least: float = option(0.002, "Plans less probable than this are not executed, except the best.", low=0.0, high=1.0)
    temperature: float = option(1.0, "A value above 1 spreads the probability over more plans.", low=0.1, high=10.0)
    artifact: str = option(
        "",
        "Name of the trained planner (made by `train planner`) that scores the plans; empty for none.",
        staff_only=True,
    )
    fold: int = option(
        -1,
        "Score with the trained planner that was fitted without this fold of its questions; -1 for all questions. "
        "For measuring on questions that it has learned from.",
        low=-1,
        high=19,
        staff_only=True,
    )

    def load(self) -> None:
        """Load the trained planner before the search's clock starts; the stage says why it cannot be used."""
        if self.artifact and self.plan_scorers is not None:
            with suppress(StageError):
                self.plan_scorers.get(self.artifact, self.fold)

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan; a plan that leaves the whole question to the texts where nothing else is meant.

        When the question brings its own plan, that plan is returned unchanged.

        Raises DeadlineExceeded or SearchCancelled.
        """
        if question.plan is not None:
            return [ScoredPlan(question.plan, "user", 1.0)]
        unlearned = self._learned[1]
        said = " ".join(filter(None, [unlearned, _beyond(question.text)]))
        return StepOutput(self._read(question.text, limit), said, "degraded" if unlearned else "ok")

    def _read(self, text: str, limit: Limit) -> list[ScoredPlan]:
        listed = self.reader(text, limit, self.temperature, self.plans)
        return [one for at, one in enumerate(listed) if not at or one.probability >= self.least]

    @cached_property
    def reader(self) -> Reader:
        """The tool that reads questions by the grammar."""
        return Reader(
            self.knowledge, self.mentions, self.adjacency, self.nodes, self.columns, self.values, self._soft,
            learned=self._learned[0],
        )  # fmt: skip

    @cached_property
    def knowledge(self) -> Knowledge:
        """The knowledge of the schema and its words."""
        return Knowledge.of(self.schema, self.encoder)

    @cached_property
    def _learned(self) -> tuple[LearnedScorer | None, str]:
        """What the trained planner adds to the scores, None if none is set; a sentence if it cannot be used."""
        if not self.artifact:
            return None, ""
        try:
            if self.plan_scorers is None:
                raise StageError("plan", "this site reads no trained parts", permanent=True)
            return LearnedScorer(self.plan_scorers.get(self.artifact, self.fold), Elements(self.schema)), ""
        except StageError as error:
            return None, f"Plans are scored without the trained planner: {error.reason}."

    @cached_property
    def _soft(self) -> SoftTools | None:
        """What finds nodes that words describe or nearly name; None without an index of the texts."""
        if self.text is None:
            return None
        gathering = self.knowledge.shape.gathering
        return SoftTools(self.text, self.nodes, self.mentions, self.vectors, self.encoder, gathering)


def _beyond(text: str) -> str:
    """Return a sentence if a question has more words than are read, else an empty text."""
    said = len(tokens(text))
    if said <= MOST_TOKENS:
        return ""
    return f"The question has {said} words; the first {MOST_TOKENS} are read, and the others count as text."
