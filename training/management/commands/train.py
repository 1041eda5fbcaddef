"""`train KIND NAME --questions FILE`: learn from questions with known answers."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.table import Table

from search.domain.options import assigned
from search.management.console import shown
from search.services.jobs.run_here import recorded
from training import wiring
from training.data.examples import Example, select
from training.data.splits import TRAIN, VAL, refuse_split
from training.jobs.train_learner import job_name, parts_of_learner
from training.management.console import positive, refusals
from training.services.question_sets import import_questions, name_of
from training.services.train import train


class Command(BaseCommand):
    """Exit 0 done, 1 failed, 2 bad arguments."""

    help = "Trains a part of the search on questions with known answers; the next searches use it, without a restart."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=wiring.learners(), help="What is trained.")
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--questions", required=True, type=Path, metavar="FILE", help="JSON lines, plain or gzip.")
        parser.add_argument("--split", help=f"Only the questions of this split ({TRAIN} where the file has splits).")
        parser.add_argument("--allow-val", action="store_true",
                            help="Let questions of val be learned from; the artifact and reports say so.")  # fmt: skip
        parser.add_argument("--limit", type=positive, metavar="N", help="N questions, evenly spaced over all.")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="assigned")
        parser.add_argument("--no-activate", action="store_true", help="Save the version without using it.")
        parser.add_argument("--json", action="store_true", help="Print the report as one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with refusals(self.stderr):
                allowed = (TRAIN, VAL) if options["allow_val"] else (TRAIN,)
                refuse_split(options["split"], "Training", allowed)
                question_set, examples, _ = import_questions(knowledge_base=options["name"], path=options["questions"])
                examples = _chosen(examples, options["questions"].name, options["split"], options["limit"])
                settings = assigned(options["assigned"])
                arguments = {
                    "split": options["split"] or "", "limit": options["limit"] or 0, "settings": settings,
                    "allow_val": options["allow_val"], "activate": not options["no_activate"],
                }  # fmt: skip
                with (
                    shown(sys.stderr, parts_of_learner(options["kind"]), quiet=options["json"]) as terminal,
                    recorded(
                        terminal, kind=job_name(options["kind"]), knowledge_base=options["name"],
                        question_set=name_of(question_set), arguments=arguments,
                    ) as job,
                ):  # fmt: skip
                    report = train(
                        kind=options["kind"],
                        knowledge_base=options["name"],
                        examples=examples,
                        settings=settings,
                        activate=not options["no_activate"],
                        allow_val=options["allow_val"],
                        run=job.run,
                        question_set=question_set,
                    )
                    job.result = report
        except OSError as error:
            self.stderr.write(f"{error.filename or 'GRASP_HOME'}: {error.strerror or error}")
            sys.exit(1)
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            _show(report)


def _chosen(examples: Sequence[Example], name: str, split: str | None, limit: int | None) -> list[Example]:
    """Return the questions of a split; where none is named those for training, or all of a file without splits."""
    if split is None and any(example.split for example in examples):
        split = TRAIN
    return select(examples, name, split, limit)


def _show(report: dict[str, Any]) -> None:
    title = f"{report['artifact']} · {report['knowledge_base']} · {report['questions']} questions"
    columns = list(dict.fromkeys(column for figures in report["table"].values() for column in figures))
    table = Table("", *columns, title=title)
    for name, figures in report["table"].items():
        table.add_row(name, *(f"{figures[column]:.1f}" if column in figures else "–" for column in columns))
    console = Console()
    console.print(table)
    state = "in use" if report["active"] else "saved, not in use"
    console.print(
        f"{report['pipeline']} {report['pipeline_version']} is {state}. It took {report['seconds']:.0f} s.",
        markup=False,
        highlight=False,
    )
