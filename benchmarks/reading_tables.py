"""The tables of read questions: by set and base, by kind, the comparison with an earlier run, wrong answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.asked_tables import compared
from benchmarks.common import percentiles, show, table
from benchmarks.question_sets import APART
from benchmarks.reading_outcome import SURE, ReadOutcome
from training.evaluation.calibration import calibration

BINS = 10
Outcomes = Sequence[ReadOutcome]
COLUMNS = ("n", "first", "set", "first%", "set%", "sure", "wrong", "ECE", "ECE set", "text", "p50", "p95")
LEGEND = (
    f"first, set: right first answer, exactly the expected answers. sure: probability {SURE:g} and more; wrong: of "
    "these, first or set wrong. ECE: of the probability against first, and against first and set. text: plans that "
    "leave all to texts. p50, p95: processor time of planning in ms."
)


def show_all(outcomes: Outcomes, before: Outcomes, wrong: int) -> None:
    """Print every table; the comparison only if there are outcomes of an earlier run.

    Questions about texts have rows of their own, and are in no sum.
    """
    read = [one for one in outcomes if one.kind not in APART]
    texts = [one for one in outcomes if one.kind in APART]
    rows = [*_grouped(read, lambda one: one.set, lambda one: one.base), *_named("all", read)]
    table("First plans by set and base", ("", *COLUMNS), [*rows, *_named("about texts (not in all)", texts)])
    kinds = _grouped(read, lambda one: one.set, lambda one: one.kind, whole=False)
    table("First plans by kind", ("", *COLUMNS), [*kinds, *_grouped(texts, lambda one: one.kind)])
    show(LEGEND)
    if before:
        told = {one.id for one in before}
        compared([one for one in outcomes if one.id in told], before)
        _sets(outcomes, before)
    wrong_ones(read, wrong)


def wrong_ones(outcomes: Outcomes, most: int) -> None:
    """Print the questions whose first answer or set of answers is wrong, with plan, expected and found names."""
    wrong = [one for one in outcomes if not (one.right and one.whole)]
    for one in wrong[:most]:
        sure = " · SURE" if one.is_sure else ""
        show(f"\n{one.set}/{one.base} · {one.kind} · {one.id}{sure} · {one.text}", markup=False)
        show(f"  wanted {one.answers}: {' | '.join(one.wanted)}", markup=False)
        show(f"  found {one.answered}: {' | '.join(one.found) or one.error or 'nothing'}", markup=False)
        for plan in one.plans:
            show(f"  {plan}", markup=False)


def _sets(outcomes: Outcomes, before: Outcomes) -> None:
    """Print how many whole sets were won and lost since an earlier run."""
    earlier = {one.id: one.whole for one in before}
    both = [(earlier[one.id], one.whole) for one in outcomes if one.id in earlier]
    won, lost = sum(now > then for then, now in both), sum(now < then for then, now in both)
    show(f"Whole sets: won {won}, lost {lost} of {len(both)}.")


def _grouped(
    outcomes: Outcomes,
    outer: Callable[[ReadOutcome], str],
    inner: Callable[[ReadOutcome], str] | None = None,
    *,
    whole: bool = True,
) -> Iterator[tuple[object, ...]]:
    """Yield a row for each group, if `whole`, and one for each part of it, if it has several."""
    for name in dict.fromkeys(map(outer, outcomes)):
        mine = [one for one in outcomes if outer(one) == name]
        parts = sorted(set(map(inner, mine))) if inner else []
        if whole:
            yield from _named(name, mine)
        if len(parts) > 1 or not whole:
            for part in parts:
                yield from _named(f"  {name}: {part}", [one for one in mine if inner and inner(one) == part])


def _named(name: str, outcomes: Outcomes) -> Iterator[tuple[object, ...]]:
    """Yield the row of some outcomes, if there are any."""
    if not outcomes:
        return
    count, first, whole = len(outcomes), sum(one.right for one in outcomes), sum(one.whole for one in outcomes)
    yield (
        name, count, first, whole, 100 * first / count, 100 * whole / count,
        sum(one.is_sure for one in outcomes), sum(one.is_sure_and_wrong for one in outcomes),
        _error(outcomes, lambda one: one.right), _error(outcomes, lambda one: one.right and one.whole),
        sum(one.probability is None for one in outcomes), *percentiles([one.seconds for one in outcomes]),
    )  # fmt: skip


def _error(outcomes: Outcomes, right: Callable[[ReadOutcome], bool]) -> str:
    """Return the expected calibration error over the plans that have a probability."""
    told = [(one.probability, right(one)) for one in outcomes if one.probability is not None]
    found = calibration([given for given, _ in told], [is_right for _, is_right in told], "right", BINS)
    return "" if found is None else f"{found['error']:.3f}"
