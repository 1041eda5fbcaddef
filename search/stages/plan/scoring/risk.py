"""The risk level of a plan, and the residual of a question that text has to decide (GRASP, risk level)."""

from __future__ import annotations

from collections.abc import Sequence

from search.domain.plan import Risk
from search.language.question import AnalysedQuestion
from search.stages.plan.knowledge.lexicon import Lexicon
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.scoring.align import elements

_EXPLAINED = 0.3
"""Least affinity to an element of the plan from which a word counts as explained."""
_LEVELS: tuple[tuple[float, Risk], ...] = ((0.7, "aggressive"), (0.4, "normal"), (0.15, "weak"))
"""Least trust, in [0, 1], for each risk level, the boldest first; below all of them it is `no_trade`."""


def residual(
    question: AnalysedQuestion,
    used: tuple[int, ...],
    paths: Sequence[Metapath],
    lexicon: Lexicon,
    filtered: Sequence[tuple[int, int]] = (),
) -> str:
    """Return the words of a question that a plan does not explain, in their order; empty when it explains them all.

    `filtered` are the spans (start, end) of the question that the plan's filters express; their words are left out.
    """
    content = [
        w for w in question.without(used).content if not any(first <= w.start < last for first, last in filtered)
    ]
    rows = lexicon.of([word.text for word in content])
    said = rows[:, elements(paths, lexicon.relations)].max(axis=1, initial=0.0)
    left = [word for word, affinity in zip(content, said, strict=True) if affinity < _EXPLAINED]
    return " ".join(question.text[word.start : word.start + len(word.text)] for word in left)


def explained(question: AnalysedQuestion, used: tuple[int, ...], left: str) -> float:
    """Return the share of a question's content words that a plan explains, mentions included, in [0, 1].

    `left` is the residual of the plan.
    """
    content = len(question.without(used).content) + sum(question.names[name].words for name in used)
    return 1.0 - len(left.split()) / content if content else 0.0


def level(probability: float, rival: float, share: float) -> Risk:
    """Return the risk level of a plan.

    It depends on the probability of the plan, the probability of its best `rival`, and the `share` of the question that
    the plan explains. The share counts squared. When the plan explains every word, text has little to add, even if the
    rival is close. When half of the words are left over, text matters, even if the plan is certain about the rest.
    """
    trust = share**2 * (1 + probability - rival) / 2
    return next((risk for least, risk in _LEVELS if trust >= least), "no_trade")
