"""Questions as people ask them, of 18 kinds over six knowledge bases: right first answers, calibration, what is wrong.

`python -m benchmarks asked [--split train] [--bases products,papers] [--save FILE] [--against FILE] …`
(`--help` lists all). One process asks, with one thread for each model. Nothing is written to the knowledge bases.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from benchmarks.asked_outcome import AskedOutcome
from benchmarks.asked_tables import show_all
from benchmarks.common import DATA, NotHere, show
from search.models import KnowledgeBase
from search.services.searches.describe_search import describe
from search.services.searches.pin import Pin
from search.services.searches.pin_searches import pin_searches
from search.services.searches.search_batch import search_unstored
from training.data.examples import Example, read_examples
from training.evaluation.measures import measure
from training.services.evaluations.ask import attributed, is_lost, outcome_of

FOLDER = DATA / "asked"
WRONG_SHOWN = 20
"""Wrong answers that are listed, unless `--wrong` says otherwise."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables. Raises NotHere if there are no questions, or no knowledge base for them."""
    options = _options(arguments)
    torch.set_num_threads(1)
    if not options.questions.is_dir():
        raise NotHere(f"needs a folder of questions, {options.questions}")
    outcomes = [one for path, pin in _bases(options) for one in _asked(path, pin, options)]
    if not outcomes:
        raise NotHere("no question was asked: import the knowledge bases first, under the names of the files")
    if options.save:
        lines = "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in outcomes)
        options.save.write_text(lines, encoding="utf-8")
    before = read_outcomes(options.against) if options.against else []
    show_all(outcomes, before, options.wrong)


def read_outcomes(path: Path) -> list[AskedOutcome]:
    """Return the outcomes that an earlier run saved. Raises NotHere if the file cannot be read."""
    try:
        return [AskedOutcome.from_json(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotHere(f"needs a file that --save wrote; {path} is none: {error}") from error


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks asked", description=__doc__)
    parser.add_argument("--questions", type=Path, default=FOLDER, help="folder with one BASE.jsonl for each base")
    parser.add_argument("--split", default="val", help="train, val, or all")
    parser.add_argument("--bases", default="", help="only these bases, with commas between them")
    parser.add_argument("--kinds", default="", help="only these kinds, with commas between them")
    parser.add_argument("--pipeline", default="grasp", help='such as "grasp plan.temperature=2"')
    parser.add_argument("--save", type=Path, help="write every outcome to this file, to compare with later")
    parser.add_argument("--against", type=Path, help="a file that --save wrote before")
    parser.add_argument("--wrong", type=int, default=WRONG_SHOWN, help="wrong answers that are listed")
    return parser.parse_args(arguments)


def _bases(options: Namespace) -> Iterator[tuple[Path, Pin]]:
    """Yield each file of questions with the pin of its base's searches; bases that are not imported are named."""
    wanted = set(filter(None, options.bases.split(",")))
    for path in sorted(options.questions.glob("*.jsonl")):
        base = path.stem
        if wanted and base not in wanted:
            continue
        if not KnowledgeBase.objects.filter(name=base, active_release__isnull=False).exists():
            show(f"asked: {base} is not imported; left out.")
            continue
        (pin,) = pin_searches(knowledge_base=base, pipelines=[options.pipeline], settings={}).values()
        yield path, pin


def _asked(path: Path, pin: Pin, options: Namespace) -> Iterator[AskedOutcome]:
    """Yield the outcome of each question of a file."""
    kinds = set(filter(None, options.kinds.split(",")))
    examples = read_examples(path, None if options.split == "all" else options.split)
    examples = [example for example in examples if not kinds or example.slices.get("kind") in kinds]
    for example in examples[:1]:
        # The first search loads models and files, which is no part of the times.
        search_unstored(pin, question=example.text, k=20, purpose=example.id, cancelled=_never)
    for example in examples:
        yield _outcome(path.stem, pin, example)


def _outcome(base: str, pin: Pin, example: Example) -> AskedOutcome:
    search = search_unstored(pin, question=example.text, k=20, purpose=example.id, cancelled=_never)
    outcome = outcome_of(search.run, search.steps)
    ids = [node for node, _ in outcome.ranking]
    told = describe(search.run, search.unstored_steps(())) if not outcome.error else {}
    lost = attributed(search, outcome, example.answers, _never) if is_lost(outcome, example.answers) else None
    right = bool(ids) and ids[0] in example.answers
    return AskedOutcome.of(
        base, example, outcome, told, _measures(example, ids), None if lost is None or right else lost
    )  # fmt: skip


def _measures(example: Example, ids: Sequence[str]) -> dict[str, float]:
    values = measure({example.id: ids}, {example.id: example.answers})
    return {name: float(column[0]) for name, column in values.items()}


def _never() -> bool:
    return False
