"""`tune NAME --questions FILE --split val`: choose how the graph's list and the text's are fused."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from rich.console import Console
from rich.table import Table

from search.management.console import shown
from search.services.jobs.run_here import recorded
from training.data.examples import select
from training.data.splits import TRAIN, VAL, refuse_split
from training.jobs.tune import TuneJob
from training.management.console import positive, refusals
from training.services.question_sets import import_questions, name_of
from training.services.tune import tune
from training.services.tuned_lists import PARTS as FUSIONS
from training.services.tuned_lists import STAGE_2

ROWS = {"before": "in use", "after": "the best", "held_out": "held out of the choice"}


class Command(BaseCommand):
    """Exit 0 done, also where the questions are too few to choose by; 1 failed, 2 bad arguments."""

    help = "Chooses the settings of fusion on questions with known answers and saves them as a new pipeline version."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--questions", required=True, type=Path, metavar="FILE", help="JSON lines, plain or gzip.")
        parser.add_argument("--split", help="Only the questions of this split: train or val.")
        parser.add_argument("--pipeline", default=settings.GRASP_DEFAULT_PIPELINE, metavar="P")
        parser.add_argument("--part", default=STAGE_2, choices=FUSIONS,
                            help="The fusion of graph and text, or the final one, with the reranker.")  # fmt: skip
        parser.add_argument("--limit", type=positive, metavar="N", help="N questions, evenly spaced over all.")
        parser.add_argument("--no-activate", action="store_true", help="Save the version without using it.")
        parser.add_argument("--json", action="store_true", help="Print the report as one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals(self.stderr):
            refuse_split(options["split"], "Tuning", (TRAIN, VAL))
            question_set, examples, _ = import_questions(knowledge_base=options["name"], path=options["questions"])
            examples = select(examples, options["questions"].name, options["split"], options["limit"])
            arguments = {
                "pipeline": options["pipeline"], "split": options["split"] or "", "limit": options["limit"] or 0,
                "activate": not options["no_activate"], "part": options["part"],
            }  # fmt: skip
            with (
                shown(sys.stderr, TuneJob().parts(), kind="tune", quiet=options["json"]) as terminal,
                recorded(
                    terminal, kind="tune", knowledge_base=options["name"], question_set=name_of(question_set),
                    arguments=arguments,
                ) as job,
            ):  # fmt: skip
                report = tune(
                    knowledge_base=options["name"],
                    examples=examples,
                    split=options["split"],
                    pipeline=options["pipeline"],
                    activate=not options["no_activate"],
                    run=job.run,
                    question_set=question_set,
                    part=options["part"],
                )
                job.result = report
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            _show(report)


def _show(report: dict[str, Any]) -> None:
    title = f"{report['knowledge_base']} · {report['release']} · {report['questions']} questions"
    table = Table("settings", "H@1", "H@5", "R@20", "MRR", title=title)
    for name, label in ROWS.items():
        part = report[name]
        table.add_row(label, *(_figure(part, measure) for measure in ("H@1", "H@5", "R@20", "MRR")))
    console = Console()
    console.print(table)
    console.print(report["reason"], markup=False, highlight=False)
    if report["pipeline_version"] is not None:
        state = "in use" if report["active"] else "saved, not in use"
        console.print(f"{report['pipeline']} {report['pipeline_version']} is {state}:", markup=False, highlight=False)
        for key, value in report["after"]["options"].items():
            console.print(f"  {key} = {json.dumps(value)}", markup=False, highlight=False)


def _figure(part: dict[str, Any], measure: str) -> str:
    low, high = part["intervals"][measure]
    return f"{part['metrics'][measure]:.1f}\n{low:.1f}–{high:.1f}"
