"""FollowUp: the words of a question that follows another search → changed plans, or a question of its own.

The words are read as every question is. What the search before found is one more set that the grammar may use: its
meanings are changes of the plan before, and those that do not use it are questions of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path

import numpy as np

from search.domain.errors import StageError
from search.domain.follow_up import Followed, FollowUpReading
from search.domain.graph import Schema
from search.domain.plan import RISKS, Plan, ScoredPlan
from search.domain.plan.normal_form import normal_form
from search.domain.question import LONGEST_QUESTION, Question
from search.domain.trace import Limit
from search.interfaces import Adjacency, Columns, Encoder, GraphStore, MentionIndex, NodeStore, ValueIndex
from search.language.detection import language_of
from search.language.words import language_code
from search.stages.plan.compose import NotWritten
from search.stages.plan.derivation import Derivation
from search.stages.plan.follow_up.ground import FollowUpGround
from search.stages.plan.follow_up.meant import MeantNodes, meant
from search.stages.plan.follow_up.words import Referring, Words
from search.stages.plan.grammar import GrammarWeights, fitted
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.read import Reader
from search.stages.plan.risk import level
from search.stages.plan.sets import Given, givens

WEIGHTS = Path(__file__).with_name("weights.json")
_MOST_TRIED = 12
_MOST_OWN = 3
_MOST_PLANS = 5
_MOST_FOUND = 1_000
"""Most answers of a plan that are compared with those before."""
_LEAST = 0.02
"""Least probability of a changed plan beside the best one that is listed."""


@dataclass(frozen=True)
class FollowUp:
    """Reads a follow-up against the plan that the earlier search shows."""

    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    encoder: Encoder
    schema: Schema
    graph: GraphStore
    columns: Columns
    values: ValueIndex | None = None

    def __call__(self, question: Question, limit: Limit) -> FollowUpReading:
        """Return how the words were read. Without a plan before, both questions are asked together, or the words alone.

        Raises ValueError if the question follows no search; DeadlineExceeded, SearchCancelled, and StageError of an
        index that cannot be read.
        """
        followed = question.follows
        if followed is None:
            raise ValueError("the question follows no search")
        ground = FollowUpGround(self.mentions, self.nodes, self.schema, self.graph, limit)
        given = ground.given(followed.plan) if followed.plan is not None else None
        words = self._words(question.text, given)
        roots = self.reader.parser(words.annotated, lambda: limit.check("plan"))
        if given is None:
            own = self._tried(roots[:_MOST_OWN], words, ground, None)
            anew = 1.0 if own and not own[0].refers else 0.0
            wording = question.text if anew else together(followed.wording, question.text)
            return FollowUpReading(question.text, wording, anew=1.0, detail=_without_plan(anew))
        changed = self._tried(_using(roots, 1)[:_MOST_TRIED], words, ground, followed.plan)
        own = self._tried(_using(roots, 0)[:_MOST_OWN], words, ground, None)
        if not changed:
            return FollowUpReading(question.text, question.text, detail="The words change nothing of the plan before.")
        anew = _probability(own, changed)
        plans = _scored(changed)
        wording = question.text if anew >= 0.5 else worded(followed, plans[0].plan, question.text)
        return FollowUpReading(question.text, wording, tuple(plans), anew, _said(changed[0], anew))

    def _words(self, text: str, given: Given | None) -> Words:
        reader, text = self.reader, text[:LONGEST_QUESTION]
        base = language_code(self.schema.language)
        read = reader.annotator(reader.worded(text).text)
        return self._referring(read, given, (base, language_of(text, self.schema.language)))

    def _tried(
        self, roots: Sequence[Derivation], words: Words, ground: FollowUpGround, plan: Plan | None
    ) -> list[MeantNodes]:
        """Return the meanings with their plans after they were tried on the graph, the best first, each plan once."""
        found: dict[str, MeantNodes] = {}
        before = cache(lambda: ground.found(plan, _MOST_FOUND) if plan is not None else None)
        for root in roots:
            ground.limit.check("plan")
            try:
                one = meant(root, words, self.reader, self._weights)
            except NotWritten:
                continue
            key = normal_form(one.plan, self.schema)
            if key in found or not ground.fits(one.plan):
                continue
            try:
                nodes = ground.found(one.plan, _MOST_FOUND) if one.asked is not None else None
            except StageError as error:
                if error.stage == "plan" or ground.limit.remaining() <= 0:
                    raise
                nodes = None
            # Nothing is an answer where it was asked how many there are, or whether there is any.
            empty = float(nodes == [] and one.plan.ask == "which")
            same = float(one.narrows and bool(nodes) and nodes == before())
            found[key] = replace(one, score=one.score + self._weights((("empty", empty), ("given-same", same))))
        return sorted(found.values(), key=lambda one: -one.score)

    @cached_property
    def reader(self) -> Reader:
        """What reads questions, with the weights of what only follow-ups say."""
        knowledge = Knowledge.of(self.schema, self.encoder)
        return Reader(
            knowledge, self.mentions, self.adjacency, self.nodes, self.columns, self.values, weights=self._weights
        )

    @cached_property
    def _weights(self) -> GrammarWeights:
        return _weights()

    @cached_property
    def _referring(self) -> Referring:
        return Referring(self.reader.schema, self.reader.knowledge, self.nodes, self._weights)


@lru_cache(maxsize=1)
def _weights() -> GrammarWeights:
    """Return the weights of the grammar with those of what only follow-ups say, read once."""
    return GrammarWeights({**fitted().of, **GrammarWeights.read(WEIGHTS).of})


def _using(roots: Sequence[Derivation], times: int) -> list[Derivation]:
    """Return the meanings that use what the search before found so many times."""
    return [root for root in roots if len(givens(root.meaning)) == times]


def _probability(own: Sequence[MeantNodes], changed: Sequence[MeantNodes]) -> float:
    """Return the probability that the words are a question of their own."""
    return float(1 / (1 + np.exp(changed[0].score - own[0].score))) if own else 0.0


def _scored(tried: Sequence[MeantNodes]) -> list[ScoredPlan]:
    """Return the plans with their probabilities (a softmax of the scores) and their risk levels."""
    scores = np.array([one.score for one in tried[:_MOST_PLANS]])
    shares = np.exp(scores - scores[0])
    shares = shares[shares >= _LEAST]
    shares /= shares.sum()
    plans = []
    for at, (one, share) in enumerate(zip(tried, shares.tolist(), strict=False)):
        rival = float(shares[0 if at else 1]) if len(shares) > 1 else 0.0
        risk = level(share, rival, one.explained)
        if one.left and not one.plan.target.relevance_text:
            # Nothing is done with these words, not even in text, so the plan must not lead.
            risk = min(risk, "weak", key=RISKS.index)
        plans.append(ScoredPlan(replace(one.plan, risk_level=risk), "follow-up", share))
    return plans


def together(before: str, words: str) -> str:
    """Return the question before and the words of a follow-up as one text for retrieval."""
    return f"{before.strip()} {words.strip()}".strip()


def worded(followed: Followed, plan: Plan, words: str) -> str:
    """Return the question of a changed plan for text retrieval: the question before, with what was put in its place.

    What must not be is left out, because text retrieval would look for it.
    """
    before = followed.plan or Plan()
    wording = followed.wording
    texts = {anchor.var: anchor.text for anchor in before.anchors}
    for anchor in plan.anchors:
        old = texts.pop(anchor.var, None)
        if old == anchor.text:
            continue
        at = wording.casefold().find(old.casefold()) if old else -1
        if old and at >= 0:
            wording = wording[:at] + anchor.text + wording[at + len(old) :]
        elif anchor.var != before.target.var:
            wording = together(wording, anchor.text)
    if plan.target.var != before.target.var or plan.target.relevance_text != before.target.relevance_text:
        wording = together(wording, words)
    return wording


def _said(best: MeantNodes, anew: float) -> str:
    if anew >= 0.5:
        return "The words are a question of their own."
    if best.left:
        return f"Not understood as a change: {' '.join(best.left)}. These words order the answers by text."
    return ""


def _without_plan(anew: float) -> str:
    if anew >= 0.5:
        return "The words are a question of their own."
    return "The search before has no plan to change; its question and the new words are asked together."
