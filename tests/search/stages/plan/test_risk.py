"""How far a plan is trusted."""

import pytest

from search.domain.plan import Risk
from search.stages.plan.risk import level


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
