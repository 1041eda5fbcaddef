"""Chooses fusion's settings from a grid on questions with known answers, and cross-validates the choice.

The grid is GRASP's (section on fusion). We add one axis: the probability from which a plan leads. A question's outcome
depends on `k`, on whether its plan leads, and on the product of its bucket's weight and its risk's multiplier. So each
question is ranked once for each of these values. The outcomes are added up by bucket and risk, and every combination
of the grid is a sum over those small tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from search.domain.plan import RISKS
from search.domain.precedence import without_reordering
from search.stages.fuse import BUCKETS, FIXED_BY_LEAD, FusionWeights, left_to_graph, may_lead
from training.evaluation.fused_ranks import CaseArrays, Numbers, RankCase, reciprocal_ranks
from training.evaluation.measures import Values, measure
from training.evaluation.tuning_surface import Surface, dynamic_surface, static_surface
from training.evaluation.verdict import SWITCHED_ON, verdict

STATIC_K = (1, 2, 5, 10, 20, 40, 60, 80, 100)
STATIC_WEIGHTS = tuple(step / 20 for step in range(21))
DYNAMIC_K = (3, 5, 10, 20, 40, 80, 150, 300)
BUCKET_WEIGHTS = ((1, 1.2, 1.4, 1.6, 2), (0.8, 1, 1.2, 1.4), (0.2, 0.4, 0.6, 0.8), (0, 0.05, 0.1), (0, 0.05, 0.1))
RISK_MULTIPLIERS = ((0, 0.25, 0.5, 0.75), (0.5, 0.75, 1, 1.25), (0.75, 1, 1.25, 1.5), (1, 1.25, 1.5, 2))
LEAD_PROBABILITIES = (1.01, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)
"""Probabilities from which a plan leads; none is above 1."""

FOLDS = 5
FEWEST_QUESTIONS = 4 * FOLDS
"""Fewer questions are not even divided into folds."""
SEED = 20_261
TOLERANCE = 1e-6
METHODS = ("static", "dynamic")

Progress = Callable[[int, int], None]


class Tuning(NamedTuple):
    """The result of tuning. Values are percentages by measure, one for each question, in the order of the cases.

    `best` is the grid's best on all questions; `held_out` holds the values with the settings chosen on the
    other folds. `decided` says whether `best` should replace the present settings, `reason` why. `surfaces` are those
    of the grid's methods on all questions; there are none for too few questions.
    """

    best: FusionWeights
    decided: bool
    reason: str
    before: Values
    after: Values
    held_out: Values
    surfaces: tuple[Surface, ...] = ()


@dataclass(frozen=True)
class _Tables:
    """Sums of outcomes over questions, one table for each fold.

    An outcome is one number that orders by H@1, then by MRR. `static` has the shape (folds, leads, k, weight),
    `dynamic` (folds, leads, bucket, risk, k, bucket's weight, risk's multiplier), the shorter grids filled with zeros.
    """

    static: Numbers
    dynamic: Numbers


def tune(
    cases: Sequence[RankCase],
    present: FusionWeights,
    progress: Progress | None = None,
    methods: Sequence[str] = METHODS,
) -> Tuning:
    """Choose the settings with the highest H@1, then MRR, and cross-validate the choice against the present ones.

    `methods` are the methods of the grid to choose from.

    Equal outcomes are decided, in this order, for the present settings; static before dynamic; the lead nearest to
    that of a base that was not tuned; weights nearest to its weights (a weight on which no question depends stays
    there); the smaller weights; the smaller k. The choice counts when questions that had no part in it gain: when the
    95% interval of the gain in H@1 lies above 0, or that in MRR while H@1 does not fall.
    """
    before = outcome(cases, [present] * len(cases))
    if len(cases) < FEWEST_QUESTIONS:
        reason = f"Too few questions to choose by ({len(cases)}). The settings in use stay."
        return Tuning(present, False, reason, before, before, before)
    folds = np.random.default_rng(SEED).permutation(len(cases)) % FOLDS
    tables = _tabulate(cases, folds, progress)
    own = _worth(before["H@1"] == 100, before["MRR"] / 100, len(cases))
    # Outcomes that no setting changes: those of questions without graph candidates.
    fixed = np.array([own[place] if case.graph.trust.n_cand == 0 else 0.0 for place, case in enumerate(cases)])
    without = [_choose(tables, folds, own, fixed, fold, present, methods) for fold in range(FOLDS)]
    best = _choose(tables, folds, own, fixed, None, present, methods)
    held_out = outcome(cases, [without[fold] for fold in folds])
    after = outcome(cases, [best] * len(cases))
    decided, reason = _judge(best, present, before, held_out)
    surfaces = _surfaces(tables, float(fixed.sum()), len(cases), methods)
    return Tuning(best, decided, reason, before, after, held_out, surfaces)


def outcome(cases: Sequence[RankCase], settings: Sequence[FusionWeights]) -> Values:
    """Return every measure of every case, fused by the fuse stage with the settings of the same index."""
    rankings = {
        case.question: [case.names[key] for key in weighing.fuse(case.graph, case.text, case.cosines).ranking.keys]
        for case, weighing in zip(cases, settings, strict=True)
    }
    return measure(rankings, {case.question: case.answers for case in cases})


def _judge(best: FusionWeights, present: FusionWeights, before: Values, held_out: Values) -> tuple[bool, str]:
    if best == present:
        return False, "No settings of the grid answer these questions better than those in use, which stay."
    found = verdict(before, held_out, f"questions that had no part in the choice ({FOLDS} folds)")
    if found.better:
        return True, found.reason.removesuffix(f" {SWITCHED_ON}")
    return False, f"{found.reason} The settings in use stay."


def _worth(hit: Numbers | NDArray[np.bool_], reciprocal: Numbers, cases: int) -> Numbers:
    """Return one number that orders sums over that many cases by hits first, then by reciprocal ranks."""
    worth: Numbers = hit * (2.0 * cases) + reciprocal
    return worth


def _tabulate(cases: Sequence[RankCase], folds: NDArray[np.intp], progress: Progress | None) -> _Tables:
    """Return the summed outcomes of every case under every weight that the grid can give it."""
    widest = max(len(weights) for weights in BUCKET_WEIGHTS), max(len(weights) for weights in RISK_MULTIPLIERS)
    static = np.zeros((FOLDS, len(LEAD_PROBABILITIES), len(STATIC_K), len(STATIC_WEIGHTS)))
    dynamic = np.zeros((FOLDS, len(LEAD_PROBABILITIES), len(BUCKETS), len(RISKS), len(DYNAMIC_K), *widest))
    for place, case in enumerate(cases):
        if case.graph.trust.n_cand:
            bucket = next(i for i, (most, _) in enumerate(BUCKETS) if case.graph.trust.n_cand <= most)
            risk = RISKS.index(case.graph.trust.risk_level)
            fixed, moving = _outcomes(case, bucket, risk, len(cases))
            led = np.array([int(may_lead(case.graph.trust, lead)) for lead in LEAD_PROBABILITIES])
            static[folds[place]] += fixed[led]
            dynamic[folds[place], :, bucket, risk, :, : moving.shape[2], : moving.shape[3]] += moving[led]
        if progress is not None:
            progress(place + 1, len(cases))
    return _Tables(static, dynamic)


def _outcomes(case: RankCase, bucket: int, risk: int, cases: int) -> tuple[Numbers, Numbers]:
    """Return one case's outcomes, not led and led: static (2, k, weight), dynamic (2, k, weight, multiplier)."""
    graph, text, k = _rows(bucket, risk)
    half = 2 * len(STATIC_K) * len(STATIC_WEIGHTS)
    # The first half of the dynamic rows is not led: there a text that has learned takes its part.
    graph = graph.copy()
    graph[half : half + (len(graph) - half) // 2] *= left_to_graph(case.graph.trust)
    reciprocal = reciprocal_ranks(CaseArrays.of(case), graph, text, k)
    worth = _worth(reciprocal == 1.0, reciprocal, cases)
    shape = (2, len(DYNAMIC_K), len(BUCKET_WEIGHTS[bucket]), len(RISK_MULTIPLIERS[risk]))
    return worth[:half].reshape(2, len(STATIC_K), len(STATIC_WEIGHTS)), worth[half:].reshape(shape)


@cache
def _rows(bucket: int, risk: int) -> tuple[Numbers, Numbers, Numbers]:
    """Return the graph's weight, the text's and k for every outcome of a case: not led and led, static and dynamic."""
    static = [(w, 1.0 - w, float(k)) for k in STATIC_K for w in STATIC_WEIGHTS]
    pairs = product(DYNAMIC_K, BUCKET_WEIGHTS[bucket], RISK_MULTIPLIERS[risk])
    dynamic = [(w * m, 1.0, float(k)) for k, w, m in pairs]
    rows = [*static, *map(_led, static), *dynamic, *map(_led, dynamic)]
    graph, text, k = np.array(rows, dtype=np.float64).T
    return graph, text, k


def _led(row: tuple[float, float, float]) -> tuple[float, float, float]:
    """Return the same weights where the graph leads."""
    graph, text, k = row
    return (graph, min(text, without_reordering(graph, FIXED_BY_LEAD, k)), k) if graph > 0 else row


def _choose(
    tables: _Tables, folds: NDArray[np.intp], own: Numbers, fixed: Numbers, without: int | None,
    present: FusionWeights, methods: Sequence[str],
) -> FusionWeights:  # fmt: skip
    """Return the best settings on all folds, or on all but one."""
    kept = np.array([fold != without for fold in range(FOLDS)])
    asked = kept[folds]
    static, dynamic = tables.static[kept].sum(axis=0), tables.dynamic[kept].sum(axis=0)
    found = [_best_static(static) if method == "static" else _best_dynamic(dynamic) for method in methods]
    worth, best = max(found, key=lambda entry: entry[0])
    return best if worth[0] + fixed[asked].sum() > own[asked].sum() + TOLERANCE else present


Tuned = tuple[tuple[float, ...], FusionWeights]
"""A sort key (the outcome, then the tie-breakers) and the settings."""


def _best_static(table: Numbers) -> Tuned:
    """Return the best static settings; `table` has the shape (leads, k, weight)."""
    untuned = FusionWeights()
    found = [
        ((round(float(table[i, j, n]), 5), 1.0, -abs(lead - untuned.lead), -abs(weight - 0.5), -weight, -k),
         FusionWeights(method="static", k=float(k), weight=weight, lead=lead))
        for i, lead in enumerate(LEAD_PROBABILITIES)
         for j, k in enumerate(STATIC_K)
         for n, weight in enumerate(STATIC_WEIGHTS)
    ]  # fmt: skip
    return max(found, key=lambda entry: entry[0])


def _best_dynamic(table: Numbers) -> Tuned:
    """Return the best dynamic settings; `table` has the shape (leads, bucket, risk, k, weight, multiplier)."""
    choices = _choices()
    far = _distance(choices)
    found = []
    for i, lead in enumerate(LEAD_PROBABILITIES):
        for j, k in enumerate(DYNAMIC_K):
            worth = _combined(table, choices, i, j)
            best = worth.max()
            *weights, multiplier = np.unravel_index(
                np.where(worth >= best - TOLERANCE, far, np.inf).argmin(), worth.shape
            )
            chosen = FusionWeights(
                method="dynamic",
                k=float(k),
                bucket_weights=tuple(float(BUCKET_WEIGHTS[b][n]) for b, n in enumerate(weights)),
                risk_multipliers=tuple(float(RISK_MULTIPLIERS[r][n]) for r, n in enumerate(choices[multiplier])),
                lead=lead,
            )
            order = (
                round(float(best), 5),
                0.0,
                -abs(lead - FusionWeights().lead),
                -float(far[(*weights, multiplier)]),
                -k,
            )
            found.append((order, chosen))
    return max(found, key=lambda entry: entry[0])


def _choices() -> NDArray[np.intp]:
    """Return every combination of multipliers as places in their grids, shape (combinations, risks)."""
    return np.array(list(product(*(range(len(values)) for values in RISK_MULTIPLIERS))))


def _combined(table: Numbers, choices: NDArray[np.intp], lead: int, k: int) -> Numbers:
    """Return the outcome of every combination of weights and multipliers, with an axis for each bucket's weight."""
    return _spread([
        # For each weight of the bucket and each combination of multipliers: its questions, of every risk.
        np.add.reduce([
            table[lead, b, risk, k, : len(weights)][:, choices[:, risk]] for risk in range(choices.shape[1])
        ])
        for b, weights in enumerate(BUCKET_WEIGHTS)
    ])  # fmt: skip


def _surfaces(tables: _Tables, fixed: float, questions: int, methods: Sequence[str]) -> tuple[Surface, ...]:
    static, dynamic, choices = tables.static.sum(axis=0), tables.dynamic.sum(axis=0), _choices()
    made = {
        "static": lambda: static_surface(static, STATIC_K, STATIC_WEIGHTS, fixed, questions),
        "dynamic": lambda: dynamic_surface(
            lambda lead, k: _combined(dynamic, choices, lead, k), len(LEAD_PROBABILITIES), DYNAMIC_K,
            BUCKET_WEIGHTS[0], fixed, questions,
        ),
    }  # fmt: skip
    return tuple(made[method]() for method in methods)


def _distance(choices: NDArray[np.intp]) -> Numbers:
    """Return the distance of each combination from the default weights, as a sum of absolute differences."""
    untuned = FusionWeights()
    multipliers = np.zeros(len(choices))
    for risk, values in enumerate(RISK_MULTIPLIERS):
        multipliers += np.abs(np.array(values)[choices[:, risk]] - untuned.risk_multipliers[risk])
    parts = [
        np.repeat(np.abs(np.array(values, dtype=np.float64) - untuned.bucket_weights[bucket])[:, None], len(choices), 1)
        for bucket, values in enumerate(BUCKET_WEIGHTS)
    ]
    return _spread(parts) + multipliers


def _spread(parts: Sequence[Numbers]) -> Numbers:
    """Add tables of shape (weight of one bucket, multipliers) into one with an axis for each bucket's weight."""
    total = parts[0]
    for part in parts[1:]:
        total = total[..., None, :] + part
    return total
