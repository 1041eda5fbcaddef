"""How far the graph is to be trusted for a question, and what text still has to say (GRASP, risk level)."""

from __future__ import annotations

from collections.abc import Sequence

from search.domain.plan import Risk
from search.language.question import AnalysedQuestion
from search.stages.plan.knowledge.lexicon import Lexicon
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.scoring.align import elements

_EXPLAINED = 0.3
"""A word counts as explained from this affinity to something in the plan on."""
_LEVELS: tuple[tuple[float, Risk], ...] = ((0.7, "aggressive"), (0.4, "normal"), (0.15, "weak"))


def residual(
    question: AnalysedQuestion,
    used: tuple[int, ...],
    paths: Sequence[Metapath],
    lexicon: Lexicon,
    filtered: Sequence[tuple[int, int]] = (),
) -> str:
    """Return the words of a question that a plan does not explain, in their order; empty when it explains them all.

    `filtered` are stretches of the question that the plan's filters say.
    """
    content = [
        w for w in question.without(used).content if not any(first <= w.start < last for first, last in filtered)
    ]
    rows = lexicon.of([word.text for word in content])
    said = rows[:, elements(paths, lexicon.relations)].max(axis=1, initial=0.0)
    left = [word for word, affinity in zip(content, said, strict=True) if affinity < _EXPLAINED]
    return " ".join(question.text[word.start : word.start + len(word.text)] for word in left)


def explained(question: AnalysedQuestion, used: tuple[int, ...], left: str) -> float:
    """Return the share of a question's content, mentions included, that a plan explains, in [0, 1]."""
    content = len(question.without(used).content) + sum(question.names[name].words for name in used)
    return 1.0 - len(left.split()) / content if content else 0.0


def level(probability: float, rival: float, share: float) -> Risk:
    """Return the risk level of a plan from its margin over the best other one and how much of the question it explains.

    A question whose every word is in the plan leaves text nothing to add, however close the next plan; one of which
    half is left over is a matter of text, however sure the plan is of the other half.
    """
    trust = share**2 * (1 + probability - rival) / 2
    return next((risk for least, risk in _LEVELS if trust >= least), "no_trade")
