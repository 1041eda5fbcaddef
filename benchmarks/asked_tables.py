"""The tables of asked questions: by kind and base, calibration, the comparison with an earlier run, wrong answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from benchmarks.asked_outcome import AskedOutcome
from benchmarks.common import percentiles, show, table
from training.evaluation.calibration import calibration, wilson
from training.evaluation.measures import MEASURES

Outcomes = Sequence[AskedOutcome]


class Answered(Protocol):
    """An outcome that can be compared with that of the same question in an earlier run."""

    @property
    def id(self) -> str:
        """The question's id."""

    @property
    def base(self) -> str:
        """The name of its knowledge base."""

    @property
    def kind(self) -> str:
        """The question's kind."""

    @property
    def text(self) -> str:
        """The question."""

    @property
    def plans(self) -> Sequence[str]:
        """The best plans, in one line each."""

    @property
    def right(self) -> bool:
        """Whether the first answer is right."""


def show_all(outcomes: Outcomes, before: Outcomes, wrong: int) -> None:
    """Print every table; the comparison only if there are outcomes of an earlier run."""
    by_kind_and_base(outcomes)
    measured(outcomes)
    sureness(outcomes)
    if before:
        compared(outcomes, before)
    wrong_ones(outcomes, wrong)


def by_kind_and_base(outcomes: Outcomes) -> None:
    """Print the right first answers of each kind on each base, as `right/questions`."""
    bases = sorted({one.base for one in outcomes})
    rows: list[tuple[str, ...]] = []
    for kind in (*sorted({one.kind for one in outcomes}), ""):
        mine = [one for one in outcomes if kind in ("", one.kind)]
        cells = [_share([one for one in mine if one.base == base]) for base in bases]
        low, high = (100 * end for end in wilson(sum(one.right for one in mine), len(mine)))
        percent = 100 * sum(one.right for one in mine) / len(mine)
        precision = float(np.mean([one.measures["R-precision"] for one in mine]))
        rows.append(
            (kind or "all", *cells, _share(mine), f"{percent:.1f}", f"{low:.0f}–{high:.0f}", f"{precision:.1f}")
        )
    split = "+".join(sorted({one.split for one in outcomes}))
    columns = ("kind", *(base[:10] for base in bases), "right", "H@1", "95%", "R-prec")
    table(f"Right first answers of asked questions, {split}, {len(outcomes)} questions", columns, rows)


def measured(outcomes: Outcomes) -> None:
    """Print the measures and times of each base and of all."""
    rows = []
    for base in (*sorted({one.base for one in outcomes}), ""):
        mine = [one for one in outcomes if base in ("", one.base)]
        values = [float(np.mean([one.measures[name] for one in mine])) for name in MEASURES]
        planning = percentiles([one.planning for one in mine])
        rows.append((base or "all", len(mine), *values, *planning, percentiles([one.seconds for one in mine])[0]))
    table("Measures", ("base", "questions", *MEASURES, "planning p50 ms", "p95 ms", "whole p50 ms"), rows)


def sureness(outcomes: Outcomes) -> None:
    """Print the reliability of the shown probability, and the wrong first answers that were called almost sure."""
    known = [(one.probability, one.right) for one in outcomes if one.probability is not None]
    told = calibration([given for given, _ in known], [right for _, right in known], "right")
    if told is not None:
        rows = [
            (f"{one['from']:.2f}–{one['to']:.2f}", one["questions"], f"{one['probability']:.2f}",
             f"{one['right']:.2f}", f"{one['interval'][0]:.2f}–{one['interval'][1]:.2f}")
            for one in told["bins"]
        ]  # fmt: skip
        title = f"Shown probability and right first answers, {told['questions']} questions: error {told['error']:.3f}"
        table(title, ("probability", "questions", "mean", "share right", "95%"), rows)
    sure = [one for one in outcomes if one.leads]
    wrong = [one for one in sure if not one.right]
    show(f"Almost surely right: {len(sure)} of {len(outcomes)}; wrong among them: {len(wrong)}, "
         f"{100 * len(wrong) / len(outcomes):.1f} of 100 questions")  # fmt: skip
    for one in wrong:
        show(f"  {one.base}, {one.kind}: {one.text}")


def compared(outcomes: Sequence[Answered], before: Sequence[Answered]) -> None:
    """Print what was won and lost since an earlier run, over the questions that both have."""
    earlier = {one.id: one for one in before}
    both = [(earlier[one.id], one) for one in outcomes if one.id in earlier]
    won = [now for then, now in both if now.right and not then.right]
    lost = [(then, now) for then, now in both if then.right and not now.right]
    rows = []
    for kind in (*sorted({now.kind for _, now in both}), ""):
        mine = [pair for pair in both if kind in ("", pair[1].kind)]
        rows.append((kind or "all", len(mine), sum(then.right for then, _ in mine), sum(now.right for _, now in mine)))
    table("Right first answers before and after", ("kind", "questions", "before", "after"), rows)
    show(f"Won {len(won)}, lost {len(lost)} of {len(both)} questions.")
    for then, now in lost:
        show(f"  lost: {now.base}, {now.kind}: {now.text}\n    before: {_first(then.plans)}\n    after: "
             f"{_first(now.plans)}")  # fmt: skip


def wrong_ones(outcomes: Outcomes, most: int) -> None:
    """Print the wrong first answers with their plans, what was expected, and where it was lost."""
    wrong = [one for one in outcomes if not one.right]
    stages = Counter(one.lost_at or "?" for one in wrong)
    show(f"{len(wrong)} wrong; lost at: {', '.join(f'{name} {count}' for name, count in stages.most_common())}")
    for one in wrong[:most]:
        sure = ", almost sure" if one.leads else ""
        show(f"\n{one.base} · {one.kind} · {one.text}{sure}")
        show(f"  first: {' | '.join(one.first) or one.error or 'nothing'}; wanted: {' | '.join(one.wanted)}")
        for plan in one.plans:
            show(f"  plan: {plan}")
        show(f"  {one.lost_at or '?'}: {one.why}")
        if one.possible:
            show(f"  possible: {one.possible}")


def _share(outcomes: Outcomes) -> str:
    return f"{sum(one.right for one in outcomes)}/{len(outcomes)}" if outcomes else ""


def _first(plans: Sequence[str]) -> str:
    return plans[0] if plans else "no plan"
