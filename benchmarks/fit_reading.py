"""Fits the weights of the grammar on open questions: log-linear over the meanings tried, L2 towards the present ones.

`python -m benchmarks fit_reading [--sets geo,asked,movies] [--split train] [--write]`. It prints, for each base, the
whole sets found with the present weights, with weights fitted on all questions, and with weights fitted on all other
bases. `--write` writes `search/stages/plan/weights.json`.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.common import NotHere, show, table
from benchmarks.reading import add_choice, wanted_sets
from search import wiring
from search.domain.trace import Limit
from search.models import KnowledgeBase
from search.stages.plan import Planner
from search.stages.plan.grammar import WEIGHTS, GrammarWeights
from search.stages.plan.read import Reader
from training.data.examples import Example

TRIED = 20
"""Meanings of a question that are tried."""
MOST = 60
"""Questions that a base counts for at most, however many it has."""
L2 = 0.01
NEAR = 0.5
"""Least F1 from which the nearest meaning is taken for right where none finds just the answers."""
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Row:
    """A question's meanings: their features, and the F1 of what each finds."""

    base: str
    features: Sequence[Mapping[str, float]]
    fit: Vector

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which meanings are taken for right."""
        best = float(self.fit.max(initial=0.0))
        return self.fit >= best if best >= NEAR else np.zeros(len(self.fit), dtype=bool)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table; write the weights if that is wanted. Raises NotHere if a base is not imported."""
    parser = ArgumentParser(prog="python -m benchmarks fit_reading", description=__doc__)
    add_choice(parser)
    parser.add_argument("--write", action="store_true", help="write the fitted weights")
    options = parser.parse_args(arguments)
    options.split = options.split or "train"
    rows = [row for one in wanted_sets(options) for row in _rows(one.base, one.examples(options.split))]
    present = GrammarWeights.read().of
    fitted = fit(rows, present)
    bases = sorted({row.base for row in rows})
    told = []
    for base in bases:
        own = [row for row in rows if row.base == base]
        others = fit([row for row in rows if row.base != base], present)
        told.append((base, len(own), *(f"{_whole(own, weights):.1f}" for weights in (present, fitted, others))))
    table("Whole sets found, of 100", ("base", "questions", "present", "fitted", "fitted without it"), told)
    if options.write:
        WEIGHTS.write_text(json.dumps(dict(sorted(fitted.items())), indent=0) + "\n", encoding="utf-8")
        show(f"written: {WEIGHTS.name}")


def _rows(base: str, examples: Sequence[Example]) -> list[Row]:
    release = KnowledgeBase.objects.get(name=base).active_release
    if release is None:
        raise NotHere(f"{base} has no active release")
    tools = wiring.tools(release)
    planner = Planner(
        tools.mentions, tools.adjacency, tools.encoder, tools.nodes, tools.schema, values=tools.values,
        text=tools.text, vectors=tools.vectors, columns=tools.columns,
    )  # fmt: skip
    usual = planner.reader
    reader = Reader(
        usual.knowledge, usual.mentions, usual.adjacency, usual.nodes, usual.columns, usual.values, usual.soft,
        tried=TRIED,
    )  # fmt: skip
    rows = []
    for example in examples:
        gold = set(example.answers)
        read = reader.read(example.text, Limit())
        found = [set() if one.asked is None else set(tools.nodes.ids(one.found.tolist())) for one in read]
        fits = np.array([2 * len(ids & gold) / (len(ids) + len(gold)) if ids or gold else 1.0 for ids in found])
        rows.append(Row(base, [one.all_features() for one in read], fits))
    return rows


def fit(rows: Sequence[Row], present: Mapping[str, float]) -> dict[str, float]:
    """Return the weights that make the right meanings of these questions likeliest, near the present ones."""
    names = sorted({name for row in rows for one in row.features for name in one} | set(present))
    place = {name: at for at, name in enumerate(names)}
    several = Counter(row.base for row in rows)
    data = []
    for row in rows:
        if row.right.any() and not row.right.all():
            matrix = np.zeros((len(row.features), len(names)))
            for at, one in enumerate(row.features):
                for name, value in one.items():
                    matrix[at, place[name]] = value
            data.append((matrix, row.right, min(1.0, MOST / several[row.base])))
    start = np.array([present.get(name, 0.0) for name in names])
    total = sum(share for _, _, share in data)

    def loss(weights: Vector) -> tuple[float, Vector]:
        value, slope = 0.0, np.zeros_like(weights)
        for matrix, right, share in data:
            sums = matrix @ weights
            odds = np.exp(sums - sums.max())
            good = odds * right
            value -= share * float(np.log(good.sum() / odds.sum()))
            slope -= share * ((good / good.sum() - odds / odds.sum()) @ matrix)
        moved = weights - start
        return value + L2 * total * float(moved @ moved) / 2, slope + L2 * total * moved

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    return {name: round(float(weight), 3) for name, weight in zip(names, found, strict=True)}


def _whole(rows: Sequence[Row], weights: Mapping[str, float]) -> float:
    """Return in how many of 100 questions the best meaning finds just the answers."""
    weigh = GrammarWeights(dict(weights))
    best = [int(np.argmax([weigh(tuple(one.items())) for one in row.features])) for row in rows if len(row.fit)]
    fits = [row.fit for row in rows if len(row.fit)]
    return 100 * sum(float(fit[at]) == 1.0 for fit, at in zip(fits, best, strict=True)) / max(1, len(rows))
