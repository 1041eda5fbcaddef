"""FollowUp: the words of a question that follows another search → changed plans, or a question of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from search.domain.errors import StageError
from search.domain.follow_up import Followed, FollowUpReading
from search.domain.graph import Schema
from search.domain.plan import RISKS, Plan, ScoredPlan
from search.domain.plan.normal_form import normal_form
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import Adjacency, Encoder, GraphStore, MentionIndex, NodeStore, ValueIndex
from search.stages.plan.follow_up.asked import Asked, read_words
from search.stages.plan.follow_up.combine import Changed, Combinations
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.follow_up.own import own_question
from search.stages.plan.risk import level

_EMPTY = 4.0
"""Cost of a changed plan that finds nothing, where another reading finds something."""
_MOST_TRIED = 12
_MOST_PLANS = 5
_LEAST = 0.02
"""Least probability of a changed plan beside the best one that is executed."""


@dataclass(frozen=True)
class FollowUp:
    """Reads a follow-up against the plan that the earlier search shows."""

    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    encoder: Encoder
    schema: Schema
    graph: GraphStore
    values: ValueIndex | None = None

    def __call__(self, question: Question, limit: Limit) -> FollowUpReading:
        """Return how the words were read. Without a plan before, both questions are asked together, or the words alone.

        Raises ValueError if the question follows no search; DeadlineExceeded, SearchCancelled, and StageError of an
        index that cannot be read.
        """
        followed = question.follows
        if followed is None:
            raise ValueError("the question follows no search")
        ground = Ground(
            self.mentions, self.adjacency, self.nodes, self.encoder, self.schema, self.graph, limit
        )  # fmt: skip
        asked = read_words(question.text, ground, followed.plan, self.values)
        anew = own_question(asked, ground, followed.plan)
        if followed.plan is None:
            wording = question.text if anew >= 0.5 else together(followed.wording, question.text)
            return FollowUpReading(question.text, wording, anew=1.0, detail=_without_plan(followed, anew))
        tried = self._tried(Combinations(asked, ground).of(followed.plan), ground)
        if not tried:
            return FollowUpReading(question.text, question.text, detail="The words change nothing of the plan before.")
        plans = self._scored(tried, asked)
        wording = question.text if anew >= 0.5 else worded(followed, plans[0].plan, question.text)
        return FollowUpReading(question.text, wording, tuple(plans), anew, _said(tried[0], anew))

    def _tried(self, changed: list[Changed], ground: Ground) -> list[Changed]:
        """Return the likeliest changed plans after they were tried on the graph, the best first, each once."""
        found, known = [], set()
        for one in changed:
            key = normal_form(one.plan, self.schema)
            if key in known:
                continue
            known.add(key)
            try:
                nodes = ground.found(one.plan)
            except StageError as error:
                if error.stage == "plan" or ground.limit.remaining() <= 0:
                    raise
                nodes = None
            # Nothing is an answer where it was asked how many there are, or whether there is any.
            empty = _EMPTY if nodes == [] and one.plan.ask == "which" else 0.0
            found.append(replace(one, cost=one.cost + empty))
            if len(found) == _MOST_TRIED:
                break
        return sorted(found, key=lambda one: one.cost)

    def _scored(self, tried: list[Changed], asked: Asked) -> list[ScoredPlan]:
        """Return the plans with their probabilities (a softmax of the costs) and their risk levels."""
        costs = np.array([one.cost for one in tried[:_MOST_PLANS]])
        shares = np.exp(costs[0] - costs)
        kept = shares >= _LEAST
        shares = shares[kept] / shares[kept].sum()
        words = max(1, len(asked.question.without(()).words))
        plans = []
        for at, (one, share) in enumerate(zip(np.array(tried[:_MOST_PLANS], dtype=object)[kept], shares, strict=True)):
            rival = float(shares[0 if at else 1]) if len(shares) > 1 else 0.0
            risk = level(float(share), rival, max(0.0, 1.0 - len(one.left) / words))
            if one.left and not one.plan.target.relevance_text:
                # Nothing is done with these words, not even in text, so the plan must not lead.
                risk = min(risk, "weak", key=RISKS.index)
            plans.append(ScoredPlan(replace(one.plan, risk_level=risk), "follow-up", float(share)))
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


def _said(best: Changed, anew: float) -> str:
    if anew >= 0.5:
        return "The words are a question of their own."
    if best.left:
        return f"Not understood as a change: {' '.join(best.left)}. These words order the answers by text."
    return ""


def _without_plan(followed: Followed, anew: float) -> str:
    if anew >= 0.5:
        return "The words are a question of their own."
    return "The search before has no plan to change; its question and the new words are asked together."
