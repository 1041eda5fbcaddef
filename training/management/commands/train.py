"""`train KIND NAME --questions FILE`: learn from questions with known answers."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.table import Table

from search.domain.options import assigned
from training import wiring
from training.data.examples import Example, read_examples, spread
from training.data.splits import refuse_test
from training.management.console import bars, positive, refusals, teller
from training.services.train import train

SPLIT = "train"


class Command(BaseCommand):
    """Exit 0 done, 1 failed, 2 bad arguments."""

    help = "Trains a part of the search on questions with known answers; the next searches use it, without a restart."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=wiring.learners(), help="What is trained.")
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--questions", required=True, type=Path, metavar="FILE", help="JSON lines, plain or gzip.")
        parser.add_argument("--split", help=f"Only the questions of this split ({SPLIT} where the file has splits); "
                                            "one for testing is refused.")  # fmt: skip
        parser.add_argument("--limit", type=positive, metavar="N", help="N questions, evenly spaced over all.")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="assigned")
        parser.add_argument("--no-activate", action="store_true", help="Save the version without using it.")
        parser.add_argument("--json", action="store_true", help="Print the report as one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with refusals(self.stderr):
                examples = _examples(options["questions"], options["split"], options["limit"])
                with bars(Console(stderr=True)) as shown:
                    report = train(
                        kind=options["kind"],
                        knowledge_base=options["name"],
                        examples=examples,
                        settings=assigned(options["assigned"]),
                        activate=not options["no_activate"],
                        progress=teller(shown),
                    )
        except OSError as error:
            self.stderr.write(f"{error.filename or 'GRASP_HOME'}: {error.strerror or error}")
            sys.exit(1)
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            _show(report)


def _examples(path: Path, split: str | None, limit: int | None) -> list[Example]:
    """Return the questions of a split; where none is named those for training, or all of a file without splits."""
    refuse_test(split, "Training")
    if split is not None:
        return read_examples(path, split, limit)
    examples = read_examples(path)
    if any(example.split for example in examples):
        return read_examples(path, SPLIT, limit)
    return spread(examples, limit)


def _show(report: dict[str, Any]) -> None:
    metrics = report["metrics"]
    title = f"{report['artifact']} · {report['knowledge_base']} · {report['questions']} questions"
    table = Table("cross-fitted", "plan right", "H@1", "H@5", "R@20", "MRR", title=title)
    for name, label in (("before", "untrained"), ("after", "trained")):
        listed = metrics["graph_list"][name]
        figures = [f"{listed[measure]:.1f}" if listed else "–" for measure in ("H@1", "H@5", "R@20", "MRR")]
        table.add_row(label, f"{metrics['plan_accuracy'][name]:.1f}", *figures)
    console = Console()
    console.print(table)
    state = "in use" if report["active"] else "saved, not in use"
    console.print(
        f"{report['pipeline']} {report['pipeline_version']} is {state}. It took {report['seconds']:.0f} s.",
        markup=False,
        highlight=False,
    )
