"""Fits the calibration of the planner without training: how sure it may be, from what it knows of its first plan.

`python -m benchmarks calibrate [--rows FILE] [--write]` asks questions with known answers, keeps the facts of each
first plan and whether the first answer was right (`--rows`: used again if the file is there), and fits a logistic
function whose weights have given signs. `--write` puts it into the tree. The questions: people's questions of the
train split (movies), and synthesised ones over the demo bases and movies, conditions included; none of a base on which
calibration is reported.
"""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from benchmarks.bases import imported
from benchmarks.common import PROJECT, NotHere, show, table
from search import wiring
from search.domain.logistic import Logistic
from search.models import KnowledgeBase
from search.services.searches.pin_searches import pin_searches
from search.services.searches.search_batch import search_unstored
from search.stages.plan import calibrate
from search.stages.plan.calibrate import INPUTS, Grounds
from training.data.examples import Example, read_examples, spread
from training.data.synthesis import synthesise
from training.evaluation.calibration import calibration as reliability
from training.learning.logistic_fit import fit_logistic
from training.services.evaluations.ask import outcome_of

DEMOS = ("products", "papers", "biomedical")
NUMBER = 150
"""Questions of each source."""
PEOPLE = ", people"
"""End of the names of sources of questions that people asked."""
SEED = 11
FILE = Path(calibrate.__file__).with_name("calibration.json")
Source = tuple[str, str, list[Example]]
"""Name of a source of questions, its knowledge base, and the questions."""


@dataclass(frozen=True)
class Row:
    """The facts of one question's first plan, and whether the first answer was right."""

    source: str
    kind: str
    text: str
    grounds: Grounds
    right: bool


def main(arguments: Sequence[str] = ()) -> None:
    """Print the reliability of each source, held out of the fit, and the weights. Raises NotHere without questions."""
    options = _options(arguments)
    torch.set_num_threads(1)
    rows = _kept(options.rows, _sources(options))
    if not rows:
        raise NotHere("no question gave a plan")
    _show_held_out(rows)
    found = fitted(rows)
    if options.check:
        _show("Questions that only check", found, _kept(options.check_rows, _checked(options.check)))
    table("Weights", ("input", "weight"), [*((name, f"{found.weights.get(name, 0):.3f}") for name in INPUTS),
                                           ("constant", f"{found.constant:.3f}")])  # fmt: skip
    if options.write:
        counts = {source: sum(row.source == source for row in rows) for source in dict.fromkeys(r.source for r in rows)}
        FILE.write_text(written(found, counts), encoding="utf-8")
        show(f"written to {FILE}")


def _kept(path: Path | None, sources: Iterable[Source]) -> list[Row]:
    """Return the rows of a file; without it those of the sources, which are then kept in the file."""
    if path is not None and path.exists():
        told = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [Row(**{**one, "grounds": Grounds(**one["grounds"])}) for one in told]
    rows = [row for source, base, examples in sources for row in _asked(source, base, examples)]
    if path is not None:
        lines = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
        path.write_text(lines, encoding="utf-8")
    return rows


def _checked(folder: Path) -> Iterator[Source]:
    """Yield the train questions of each file of asked questions whose base is imported."""
    for path in sorted(folder.glob("*.jsonl")):
        if KnowledgeBase.objects.filter(name=path.stem, active_release__isnull=False).exists():
            yield path.stem, path.stem, read_examples(path, "train")


def written(found: Logistic, counts: dict[str, int]) -> str:
    """Return the content of the file in the tree: weights, constant, and how they were made."""
    made = {"by": "python -m benchmarks calibrate --write", "seed": SEED, "questions": counts}
    return json.dumps({**found.to_json(), "made": made}, indent=1) + "\n"


def fitted(rows: Sequence[Row]) -> Logistic:
    """Return the logistic function with the least loss; no weight is negative.

    People's questions count as much as all synthesised ones, whose words are not people's. Each source counts alike
    beside the others of its sort, and each kind of question in it by the root of its number: nobody knows how often
    people will ask what.
    """
    inputs = np.array([[row.grounds.inputs()[name] for name in INPUTS] for row in rows])
    right = np.array([row.right for row in rows], dtype=np.float64)
    kinds = Counter((row.source, row.kind) for row in rows)
    roots: dict[str, float] = dict.fromkeys((source for source, _ in kinds), 0.0)
    for (source, _), count in kinds.items():
        roots[source] += math.sqrt(count)
    share = np.array([1 / (roots[row.source] * math.sqrt(kinds[row.source, row.kind])) for row in rows])
    people = np.array([row.source.endswith(PEOPLE) for row in rows])
    for sort in (people, ~people):
        share[sort] /= max(share[sort].sum(), 1e-12)
    return fit_logistic(INPUTS, inputs, right, share)


def _show_held_out(rows: Sequence[Row]) -> None:
    """Print for each source the error of the softmax's share, and of a fit on the other sources."""
    shown = []
    for source in dict.fromkeys(row.source for row in rows):
        mine = [row for row in rows if row.source == source]
        others = fitted([row for row in rows if row.source != source] or rows)
        shown.append((source, *_measured(others, mine)))
    table("Calibration, each source held out of the fit", ("source", *_COLUMNS), shown)


_COLUMNS = ("questions", "right", "told", "error of shares", "error", "wrong at 0.9 and more")


def _measured(told_by: Logistic, rows: Sequence[Row]) -> tuple[object, ...]:
    told = [told_by.probability(row.grounds.inputs()) for row in rows]
    sure = [row.right for row, one in zip(rows, told, strict=True) if one >= 0.9]
    wrong = f"{len(sure) - sum(sure)} of {len(sure)}"
    shares = _error([row.grounds.share for row in rows], rows)
    right = np.mean([row.right for row in rows])
    return len(rows), f"{right:.2f}", f"{np.mean(told):.2f}", shares, _error(told, rows), wrong


def _show(title: str, found: Logistic, rows: Sequence[Row]) -> None:
    """Print the reliability over all rows, and over those with a plan that was executed in the graph."""
    walked = [row for row in rows if not row.grounds.text]
    shown = [("all", *_measured(found, rows)), ("with a plan", *_measured(found, walked))]
    table(title, ("", *_COLUMNS), shown)


def _error(told: Sequence[float], rows: Sequence[Row]) -> str:
    measured = reliability(list(told), [row.right for row in rows], "right")
    return "–" if measured is None else f"{measured['error']:.3f}"


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks calibrate", description=__doc__)
    parser.add_argument("--rows", type=Path, help="file of the facts; used if it is there, else written")
    parser.add_argument("--number", type=int, default=NUMBER, help="questions of each source")
    parser.add_argument("--check", type=Path, help="folder of asked questions, of which those of train only check")
    parser.add_argument("--check-rows", type=Path, help="as --rows, for --check")
    parser.add_argument("--write", action="store_true", help="put the calibration into the tree")
    return parser.parse_args(arguments)


def _sources(options: Namespace) -> Iterator[Source]:
    """Yield the sources of questions that the calibration is fitted to."""
    for name in (*DEMOS, "movies"):
        try:
            base, folder = imported(name, PROJECT / "search" / "fixtures" / "demo" / name if name in DEMOS else None)
        except NotHere as reason:
            show(f"{name}: {reason}; left out.")
            continue
        if name == "movies":
            train = read_examples(next(folder.glob("questions.jsonl*")), "train")
            yield f"{name}{PEOPLE}", base, spread(train, options.number)
        release = KnowledgeBase.objects.get(name=base).active_release
        if release is not None:
            made = synthesise(wiring.tools(release), options.number, SEED, conditions=True)
            yield f"{name}, synthesised", base, list(made)


def _asked(source: str, base: str, examples: Sequence[Example]) -> Iterator[Row]:
    """Yield the row of each question whose search planned."""
    (pin,) = pin_searches(knowledge_base=base, pipelines=["grasp plan.artifact="], settings={}).values()
    for example in examples:
        search = search_unstored(pin, question=example.text, k=5, purpose=example.id, cancelled=_never)
        plans = next((step.output for step in search.steps if step.role == "plan"), None)
        grounds = plans[0].get("grounds") if isinstance(plans, list) and plans else None
        outcome = outcome_of(search.run, search.steps)
        if grounds is not None and not outcome.error:
            right = bool(outcome.ranking) and outcome.ranking[0][0] in example.answers
            yield Row(source, example.slices.get("kind", ""), example.text, Grounds(**grounds), right)


def _never() -> bool:
    return False
