"""How questions are read: the first plan of each question, executed exactly, without texts and rerankers.

`python -m benchmarks reading [--sets geo,asked] [--bases papers] [--save FILE] [--against FILE] …`
(`--help` lists all). One process, with one thread for each model. Bases that are not imported are named and left out;
nothing is written to the others.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import torch

from benchmarks.common import NotHere, show
from benchmarks.question_sets import SETS, QuestionSet, question_sets
from benchmarks.reading_outcome import Reader, ReadOutcome, imported
from benchmarks.reading_tables import show_all

WRONG_SHOWN = 20
"""Wrong questions that are listed, unless `--wrong` says otherwise."""


def main(arguments: Sequence[str] = ()) -> None:
    """Print the tables. Raises NotHere if there are no questions, or no knowledge base for them."""
    options = _options(arguments)
    torch.set_num_threads(1)
    outcomes = list(_read(wanted_sets(options), options))
    if not outcomes:
        raise NotHere("no question was read: import the knowledge bases first")
    if options.save:
        lines = "".join(json.dumps(one.to_json(), ensure_ascii=False) + "\n" for one in outcomes)
        options.save.write_text(lines, encoding="utf-8")
    before = read_outcomes(options.against) if options.against else []
    show_all(outcomes, before, options.wrong)


def read_outcomes(path: Path) -> list[ReadOutcome]:
    """Return the outcomes that an earlier run saved. Raises NotHere if the file cannot be read."""
    try:
        return [ReadOutcome.from_json(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotHere(f"needs a file that --save wrote; {path} is none: {error}") from error


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks reading", description=__doc__)
    add_choice(parser)
    parser.add_argument("--options", default="", help='further options, such as "plan.temperature=2"')
    parser.add_argument("--save", type=Path, help="write every outcome to this file, to compare with later")
    parser.add_argument("--against", type=Path, help="a file that --save wrote before")
    parser.add_argument("--wrong", type=int, default=WRONG_SHOWN, help="wrong questions that are listed")
    return parser.parse_args(arguments)


def add_choice(parser: ArgumentParser) -> None:
    """Add the options that choose questions."""
    parser.add_argument("--sets", default=",".join(SETS), help=f"of {', '.join(SETS)}; or BASE=FILE for another file")
    parser.add_argument("--bases", default="", help="only these bases, with commas between them")
    parser.add_argument("--split", default="", choices=("train", "val", "all"), help="instead of each set's own")


def wanted_sets(options: Namespace) -> list[QuestionSet]:
    """Return the sets whose bases are wanted and imported; the others are named."""
    bases = set(filter(None, options.bases.split(",")))
    chosen = [one for one in question_sets(options.sets.split(",")) if not bases or one.base in bases]
    there = set(imported([one.base for one in chosen]))
    if missing := sorted({one.base for one in chosen} - there):
        show(f"{', '.join(missing)}: not imported; left out.")
    return sorted((one for one in chosen if one.base in there), key=lambda one: one.base)


def _read(sets: Sequence[QuestionSet], options: Namespace) -> Iterator[ReadOutcome]:
    """Yield the outcome of each question, in the order of the sets."""
    found: list[ReadOutcome] = []
    for base, own in groupby(sets, key=lambda one: one.base):
        reader = Reader.of(base, options.options.split())
        for one in own:
            try:
                examples = one.examples(options.split)
            except NotHere as reason:
                show(f"reading: {reason}; left out.")
                continue
            # The first question loads models and files, which is no part of the times.
            reader.outcome(one.name, examples[0])
            found += [reader.outcome(one.name, example) for example in examples]
    order = list(SETS)
    yield from sorted(found, key=lambda one: order.index(one.set) if one.set in order else len(order))
