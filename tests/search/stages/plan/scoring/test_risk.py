"""How far a plan is trusted."""

import pytest

from search.domain.plan import Risk
from search.language.question import AnalysedQuestion
from search.stages.plan.scoring.risk import level, unsaid_topics


@pytest.mark.parametrize(
    ("probability", "rival", "share", "risk"),
    [
        (0.9, 0.05, 1.0, "aggressive"),  # (1 + 0.85) / 2 = 0.925
        (0.4, 0.35, 1.0, "normal"),  # everything is explained, whichever plan it is: 0.525
        (0.9, 0.05, 0.75, "normal"),  # 0.5625 × 0.925 = 0.52
        (0.9, 0.05, 0.5, "weak"),  # 0.25 × 0.925 = 0.23
        (0.05, 0.9, 1.0, "weak"),  # another one is far better: (1 - 0.85) / 2 = 0.075
        (0.9, 0.05, 0.3, "weak"),  # 0.09 × 0.925 = 0.08; the text decides among what it finds
        (0.01, 0.98, 1.0, "no_trade"),  # (1 - 0.97) / 2 = 0.015
        (0.9, 0.05, 0.1, "no_trade"),  # 0.01 × 0.925 = 0.009
    ],
)
def test_trust_grows_with_the_margin_and_with_what_is_explained(
    probability: float, rival: float, share: float, risk: Risk
) -> None:
    assert level(probability, rival, share) == risk


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("papers about knitting after 2015", ["knitting"]),
        ("papers about the whistling", []),  # a text has it
        ("papers on knitting machines by crocheters", ["knitting", "machines"]),
        ("knitting papers", []),  # it need not be what they are about
    ],
)
def test_a_topic_that_no_text_says_is_told_from_other_words_left_over(text: str, topics: list[str]) -> None:
    question = AnalysedQuestion(text, ())
    left = [word for word in question.said if word.content and word.text != "papers"]
    assert [word.text for word in unsaid_topics(question, left, {"whistling"}.__contains__)] == topics
