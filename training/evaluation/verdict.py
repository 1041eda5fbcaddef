"""Whether a paired test on held-out questions bears out a change: one rule for everything that is learned or chosen.

The test is the paired randomisation test of `comparisons`. Every value is of one question, measured without the change
and with it, and nothing that answered it has learned from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from training.evaluation.comparisons import comparisons
from training.evaluation.measures import Values, means

TEST = "paired randomisation test"
SURE = 0.05
"""Largest p of a gain that is taken for real."""
FEWEST = 6
"""With fewer questions no test can reach `SURE`: if all of five gain, p is 2/2^5 = 0.0625."""
SWITCHED_ON = "It is switched on."
"""Ends the reason of a verdict for the better."""
DECIDING = ("MRR", "H@1")
"""Measures of which one must rise surely while the other does not fall."""


@dataclass(frozen=True)
class ComparisonVerdict:
    """The comparison of two versions: what was gained, on how many questions, and whether that is borne out."""

    better: bool
    reason: str
    questions: int
    before: Mapping[str, float]
    after: Mapping[str, float]
    comparisons: Sequence[Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as a part of a report; `p`, `wins`, `ties` and `losses` are by measure."""
        return {
            "switched_on": self.better, "reason": self.reason, "questions": self.questions, "test": TEST,
            "before": dict(self.before), "after": dict(self.after), "comparisons": list(self.comparisons),
            **{key: {str(one["metric"]): one[key] for one in self.comparisons if one["metric"] in DECIDING}
               for key in ("p", "wins", "ties", "losses")},
        }  # fmt: skip

    def refused(self, because: str) -> ComparisonVerdict:
        """Return the verdict that does not switch on, for another reason than the test's."""
        return replace(self, better=False, reason=f"{self.reason.removesuffix(SWITCHED_ON)}{not_on(because)}")


def verdict(before: Values, after: Values, asked: str) -> ComparisonVerdict:
    """Compare the values of the same questions without a change and with it.

    The change is better if one of `DECIDING` rises with p < `SURE`, and the other does not fall. `asked` names the
    questions in the reason.
    """
    count = len(next(iter(before.values()), ()))
    if count == 0:
        return ComparisonVerdict(
            False, f"There are no {asked} to judge by. {not_on('nothing could be tested')}", 0, {}, {}, ()
        )
    compared = comparisons({"with": after, "without": before})
    by = {one["metric"]: one for one in compared}
    better = count >= FEWEST and any(
        by[name]["difference"] > 0 and by[name]["p"] < SURE and by[other]["difference"] >= 0
        for name, other in (DECIDING, DECIDING[::-1])
    )
    told = " and ".join(_told(by[name]) for name in DECIDING)
    end = SWITCHED_ON if better else not_on(_because(count, [by[name] for name in DECIDING]))
    return ComparisonVerdict(
        better, f"On {count:,} {asked} {told}. {end}", count, means(before), means(after), compared
    )


def not_on(because: str) -> str:
    """Return the sentence that ends the reason of a verdict against."""
    return f"It is not switched on, because {because}."


def _because(count: int, deciding: Sequence[Mapping[str, Any]]) -> str:
    """Return why a change is not borne out."""
    moved = max(one["wins"] + one["losses"] for one in deciding)
    if count < FEWEST:
        return f"{count} questions are too few for a test; it takes {FEWEST} at least"
    if not moved:
        return "no question is answered better or worse"
    fallen = [str(one["metric"]) for one in deciding if one["difference"] < 0]
    if fallen:
        return f"{' and '.join(fallen)} fell"
    if moved < FEWEST:
        return f"only {moved} of the questions changed, too few for a test ({TEST})"
    least = min(one["p"] for one in deciding)
    return f"the gain may be chance (p = {least:.3g} by a {TEST}, and less than {SURE} counts)"


def _told(one: Mapping[str, Any]) -> str:
    low, high = one["interval"]
    return (
        f"{one['metric']} changes by {one['difference']:+.2f} (95% {low:+.2f} to {high:+.2f}, p = {one['p']:.3g}; "
        f"{one['wins']} won, {one['ties']} equal, {one['losses']} lost)"
    )
