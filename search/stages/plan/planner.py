"""The planner that needs no language model: it lists, executes and scores plans (docs/planning.md)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.plan import PlanSource, ScoredPlan
from search.domain.plan.parts import MAX_CONDITIONS
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.interfaces import (
    Adjacency,
    Columns,
    Encoder,
    GraphStore,
    MentionIndex,
    NodeStore,
    PlanScorers,
    TextIndex,
    ValueIndex,
    VectorIndex,
)
from search.language.question import AnalysedQuestion as Read
from search.language.soft_names import SoftTools
from search.stages.plan.conditions import Binder
from search.stages.plan.conditions.negative import denied_by, forbids_nameless
from search.stages.plan.conditions.paths import says_walk, walked_against
from search.stages.plan.conditions.whether import reaching
from search.stages.plan.enumeration.apart import apart, turned_round
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate
from search.stages.plan.enumeration.propose import Proposer
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.described import Words, described, described_type
from search.stages.plan.limits import Limiter
from search.stages.plan.listing import Lister
from search.stages.plan.nothing import NAMED
from search.stages.plan.read import Reader
from search.stages.plan.readings import Readings
from search.stages.plan.scoring.features import Features
from search.stages.plan.scoring.risk import unused_names
from search.stages.plan.scoring.score import EVIDENCE, Scored, Scorer
from search.stages.plan.sparse import Elements, Learned
from search.stages.plan.write import Writer
from search.stages.plan.years import YearFields


@dataclass(frozen=True)
class Planner:
    """Question → plans, best first, with probabilities that sum to 1 over the list.

    `graph` says whether any node passes a filter; without it, no quantity becomes a filter.
    """

    mentions: MentionIndex
    adjacency: Adjacency
    encoder: Encoder
    nodes: NodeStore
    schema: Schema
    plan_scorers: PlanScorers | None = None
    graph: GraphStore | None = None
    values: ValueIndex | None = None
    text: TextIndex | None = None
    vectors: VectorIndex | None = None
    columns: Columns | None = None
    parser: str = option(
        "old", "What reads the question: the grammar (new) or the rules before it (old).", choices=("old", "new")
    )
    plans: int = option(10, "Largest number of plans executed for a question.", low=1, high=50, public_high=20)
    least: float = option(0.002, "Plans less probable than this are not executed, except the best.", low=0.0, high=1.0)
    max_hops: int = option(3, "Largest number of hops from a mention to the answer.", low=1, high=4, public_high=3)
    max_mentions: int = option(5, "Largest number of mentions that plans start from.", low=1, high=12, public_high=8)
    evidence: str = option(
        "both",
        "What plans are scored by: single words of the question, the plan's wording as a whole, or both.",
        choices=tuple(EVIDENCE),
    )
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
    filters: bool = option(True, "Whether years, prices and amounts in a question become filters.")

    def load(self) -> None:
        """Load the trained planner before the search's clock starts; the stage says why it cannot be used."""
        if self.artifact and self.plan_scorers is not None:
            with suppress(StageError):
                self.plan_scorers.get(self.artifact, self.fold)

    def __call__(self, question: Question, limit: Limit) -> list[ScoredPlan]:
        """Return at least one plan; the plan without hops when the question names no node.

        When the question brings its own plan, that plan is returned unchanged.

        Raises DeadlineExceeded or SearchCancelled.
        """
        if question.plan is not None:
            return [ScoredPlan(question.plan, "user", 1.0)]
        if self.parser == "new" and self.columns is not None:
            plans, note = self.reader(question.text, limit, self.temperature, self.plans), self._learned[1]
            return StepOutput(plans, note, "degraded" if note else "ok")
        read = self.proposer.read(question.text)
        candidates = self.proposer.candidates(read, limit)
        limit.check("plan")
        scored = self.scored(read, candidates)
        best = self._settled(scored.candidates)
        if asked := reaching(read, candidates, self.nodes):
            # Joins of both names, which nobody asks for with yes or no, would keep these walks out of the list.
            walks = {candidate.paths for candidate in asked}
            others = [(candidate, total) for candidate, total in best if candidate.paths not in walks]
            # Each name leaves out the others, which is no reason to prefer one: the walks from each are scored apart.
            starts = dict.fromkeys(candidate.mentions for candidate in asked)
            scores = []
            for start in starts:
                limit.check("plan")
                scores.append(self.scored(read, [one for one in asked if one.mentions == start]))
            best = [*(one for own in scores for one in self._settled(own.candidates)), *others]
        best = self._with_apart(read, candidates, self._with_turned(read, candidates, best), limit)
        best = self._with_forbidden(read, candidates, best)
        limit.check("plan")
        lister = self._lister(read, scored.source, limit)
        listed = lister(best, scored, read.text, self.plans, self.least, self.temperature)
        return StepOutput(listed, " ".join(filter(None, [_beyond(read), listed.detail])))

    def scored(self, read: Read, candidates: Sequence[PlanCandidate]) -> Scored:
        """Return the candidates with their scores, best first."""
        return self._scorer(read, candidates)

    def lister(self, read: Read, limit: Limit) -> Lister:
        """Return what reads and lists the plans of a question, for a training that reads walks as searches do."""
        return self._lister(read, "schema", limit)

    def _settled(self, best: Sequence[tuple[PlanCandidate, float]]) -> list[tuple[PlanCandidate, float]]:
        """Return the first candidates that find at least one node, at most `plans` of them."""
        found: list[tuple[PlanCandidate, float]] = []
        for candidate, total in best:
            settled = self.proposer.enumerator.settle(candidate)
            if settled is not None:
                found.append((settled, total))
            if len(found) == self.plans:
                break
        return found

    def _with_turned(
        self, read: Read, candidates: Sequence[PlanCandidate], best: list[tuple[PlanCandidate, float]]
    ) -> list[tuple[PlanCandidate, float]]:
        """Return the candidates with the best one turned round, if the wording walks its only hop the other way.

        *Papers cited by X* are none if X cites nothing, whoever cites X.
        """
        if not best or not walked_against(read, self.knowledge, best[0][0]):
            return best
        turned = turned_round(best[0][0], candidates)
        return best if turned is None else [(turned, best[0][1]), *best]

    def _with_forbidden(
        self, read: Read, candidates: Sequence[PlanCandidate], best: list[tuple[PlanCandidate, float]]
    ) -> list[tuple[PlanCandidate, float]]:
        """Return the candidates with those of one hop that forbid, where the question forbids and names nothing there.

        No word of *what should people with asthma not take* says such a relation, so they might be far behind.
        """
        if not best or not forbids_nameless(read, self.knowledge):
            return best
        listed = {(one.mentions, one.paths) for one, _ in best}
        own = [
            one
            for one in candidates
            if len(one.paths) == 1 == len(one.paths[0].steps)
            and denied_by(self.knowledge, one.paths[0])
            and (one.mentions, one.paths) not in listed
        ]
        return [*((one, best[0][1]) for one in own), *best]

    def _with_apart(
        self,
        read: Read,
        candidates: Sequence[PlanCandidate],
        best: list[tuple[PlanCandidate, float]],
        limit: Limit,
    ) -> list[tuple[PlanCandidate, float]]:
        """Return the candidates with the joins of names that no node meets, if the best one leaves a name out.

        So they are where it joins the names by a hop that no word says.

        The sums of both are comparable: the joins are scored beside the best candidate. Where it is too far behind to
        be scored, it counts as just that far behind.
        """
        if not best:
            return best
        joined = best[0][0].branches if len(best[0][0].branches) > 1 else ()
        strays = any(not says_walk(read, self.knowledge, branch) for branch in joined if len(branch.path.steps) > 1)
        if not strays and not unused_names(read, best[0][0].mentions, self.knowledge.lexicon, least=NAMED):
            return best
        told = {(branch.path.start, branch.path.steps) for branch in best[0][0].branches}

        def says(branch: Branch) -> bool:
            return (branch.path.start, branch.path.steps) in told or says_walk(read, self.knowledge, branch)

        overlap = [frozenset(at for at, other in enumerate(read.names) if one.excludes(other)) for one in read.names]
        joins = apart(candidates, overlap, self.max_hops, says, limit)
        if not joins:
            return best
        first, total = best[0]
        sums = self.scored(read, [first, *joins]).candidates
        own = next((value for one, value in sums if one is first), sums[0][1] - Scorer.within)
        found = [(one, value - own + total) for one, value in sums if one is not first]
        return sorted([*best, *found], key=lambda pair: -pair[1])

    def _lister(self, read: Read, source: PlanSource, limit: Limit) -> Lister:
        binder = Binder(read, self.proposer, self.nodes, self._limiter.years, limit)
        readings = Readings(
            read, self.knowledge, self.nodes, self._writer, self._limiter, self.graph, binder, limit,
            numbers=self.filters,
        )  # fmt: skip
        return Lister(readings, source, self._says, self._described)

    def _says(self, word: str) -> bool:
        """Whether any text has a word; without an index of the texts, any may."""
        return self.text is None or bool(self.text.postings(word))

    def _described(self) -> tuple[str, ...]:
        """Return the name of the type that most descriptions are of, if there is one."""
        code = described_type(self._words, self.knowledge.answerable)
        return () if code is None else (self.schema.node_types[code].name,)

    @cached_property
    def _words(self) -> Words:
        """How many words of prose each type has."""
        return self.knowledge.kept(described, lambda: described(self.nodes, self.schema))

    @cached_property
    def features(self) -> Features:
        """The features of candidate plans."""
        return Features(self.knowledge.shape, self.knowledge.lexicon, self._words)

    @cached_property
    def knowledge(self) -> Knowledge:
        """The knowledge of the schema and its words."""
        return Knowledge.of(self.schema, self.encoder)

    @cached_property
    def reader(self) -> Reader:
        """The tool that reads questions by the grammar."""
        assert self.columns is not None
        return Reader(
            self.knowledge, self.mentions, self.adjacency, self.nodes, self.columns, self.values, self.proposer.soft,
            learned=self._learned[0],
        )  # fmt: skip

    @cached_property
    def proposer(self) -> Proposer:
        """The tool that reads questions and lists candidate plans."""
        return Proposer(
            self.mentions, self.adjacency, self.nodes, self.knowledge, self.max_hops, self.max_mentions, self.values,
            None if self.text is None else SoftTools(
                self.text, self.nodes, self.mentions, self.vectors, self.encoder, self.knowledge.shape.gathering
            ),
        )  # fmt: skip

    @cached_property
    def _scorer(self) -> Scorer:
        known = self.knowledge
        return Scorer(self.features, known.wording, known.vectors, EVIDENCE[self.evidence])

    @cached_property
    def _learned(self) -> tuple[Learned | None, str]:
        """What the trained planner adds to the scores, None if none is set; a sentence if it cannot be used."""
        if not self.artifact:
            return None, ""
        try:
            if self.plan_scorers is None:
                raise StageError("plan", "this site reads no artifacts", permanent=True)
            return Learned(self.plan_scorers.get(self.artifact, self.fold), Elements(self.schema)), ""
        except StageError as error:
            return None, f"Plans are scored without the trained planner: {error.reason}."

    @cached_property
    def _limiter(self) -> Limiter:
        return Limiter(self.schema, self.knowledge.kept(YearFields, lambda: YearFields(self.nodes)))

    @cached_property
    def _writer(self) -> Writer:
        return Writer(self.nodes, self.knowledge.shape)


def _beyond(read: Read) -> str:
    """Return a sentence if the question says more conditions than are read, else an empty text."""
    if not read.cues.beyond:
        return ""
    said = MAX_CONDITIONS + read.cues.beyond
    return f"The question says {said} conditions; the first {MAX_CONDITIONS} are read, and the others count as text."
