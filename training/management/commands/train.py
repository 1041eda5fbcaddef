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
from training.data.examples import BadQuestions, Example, select
from training.data.splits import TRAIN, VAL, refuse_split
from training.jobs.train_all import ALL, parts_of_all
from training.jobs.train_learner import job_name, parts_of_learner
from training.management.console import positive, refusals
from training.models import QuestionSet
from training.services.question_sets import import_questions, name_of
from training.services.synthesise import NUMBER
from training.services.train import refuse_too_few, train
from training.services.train_all import train_all
from training.services.train_request import TrainRequest


class Command(BaseCommand):
    """Exit 0 done, 1 failed, 2 bad arguments."""

    help = "Trains a part of the search on questions with known answers; the next searches use it, without a restart."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("kind", choices=[*wiring.learners(), ALL],
                            help=f"What is trained; {ALL}: what the pipeline uses, in order.")  # fmt: skip
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--questions", type=Path, metavar="FILE", help="JSON lines, plain or gzip.")
        parser.add_argument("--synthesised", nargs="?", type=positive, const=NUMBER, default=0, metavar="N",
                            help=f"Learn from N questions made of the base ({NUMBER:,} if N is left out).")  # fmt: skip
        parser.add_argument("--split", help=f"Only the questions of this split ({TRAIN} where the file has splits).")
        parser.add_argument("--allow-val", action="store_true",
                            help="Let questions of val be learned from; the artifact and reports say so.")  # fmt: skip
        parser.add_argument("--limit", type=positive, metavar="N", help="N questions, evenly spaced over all.")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="assigned")
        parser.add_argument("--pipeline", default="", metavar="P", help=f"With {ALL}: the pipeline.")
        parser.add_argument("--learners", default="", metavar="A,B", help=f"With {ALL}: only these learners.")
        parser.add_argument("--no-activate", action="store_true", help="Save the version without using it.")
        parser.add_argument("--unproven", action="store_true",
                            help="Use it at once, without the test on held-out questions.")  # fmt: skip
        parser.add_argument("--json", action="store_true", help="Print the report as one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with refusals(self.stderr):
                allowed = (TRAIN, VAL) if options["allow_val"] else (TRAIN,)
                refuse_split(options["split"], "Training", allowed)
                _refuse_unproven(options)
                question_set, examples = _asked(options)
                report = _trained(options, question_set, examples)
        except OSError as error:
            self.stderr.write(f"{error.filename or 'GRASP_HOME'}: {error.strerror or error}")
            sys.exit(1)
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            _show_all(report) if options["kind"] == ALL else _show(report)


def _trained(options: dict[str, Any], question_set: QuestionSet | None, examples: list[Example]) -> dict[str, Any]:
    """Train what the command line names as a job in this process, and return the report."""
    kind, activate, settings = options["kind"], not options["no_activate"], assigned(options["assigned"])
    arguments: dict[str, Any] = {
        "split": options["split"] or "", "limit": options["limit"] or 0, "settings": settings,
        "allow_val": options["allow_val"], "activate": activate, "synthesised": options["synthesised"],
    }  # fmt: skip
    unproven = options["unproven"]
    common: dict[str, Any] = {
        "knowledge_base": options["name"], "examples": examples, "settings": settings,
        "allow_val": options["allow_val"], "question_set": question_set,
        "synthesised": options["synthesised"],
    }  # fmt: skip
    request = None
    if kind == ALL:
        learners = tuple(name for name in options["learners"].split(",") if name)
        arguments |= {"pipeline": options["pipeline"], "learners": learners}
        request = TrainRequest(**common, pipeline=options["pipeline"], learners=learners)
        request.check()
    else:
        refuse_too_few(kind, settings, len(examples), options["synthesised"])
        arguments["unproven"] = unproven
    judged = activate and not unproven
    parts = parts_of_all(request) if request else parts_of_learner(kind, options["synthesised"], settings, judged)
    with (
        shown(sys.stderr, parts, kind=job_name(kind), quiet=options["json"]) as terminal,
        recorded(
            terminal, kind=job_name(kind), knowledge_base=options["name"],
            question_set=name_of(question_set) if question_set else "", arguments=arguments,
        ) as job,
    ):  # fmt: skip
        if request:
            job.result = train_all(request, activate=activate, run=job.run)
        else:
            job.result = train(**common, kind=kind, activate=activate, unproven=unproven, run=job.run)
    return dict(job.result)


def _refuse_unproven(options: dict[str, Any]) -> None:
    if options["unproven"] and (options["no_activate"] or options["kind"] == ALL):
        other = "--no-activate" if options["no_activate"] else f"train {ALL}, which judges every part"
        raise BadQuestions([f"--unproven uses what was learned without a test, so it does not go with {other}."])


def _asked(options: dict[str, Any]) -> tuple[QuestionSet | None, list[Example]]:
    """Return the question set of the file and those of its questions that are learned from; nothing without a file."""
    path: Path | None = options["questions"]
    if path is None:
        if not options["synthesised"]:
            raise BadQuestions(["Name the questions to learn from: --questions FILE, --synthesised, or both."])
        if options["split"] or options["limit"]:
            raise BadQuestions(["--split and --limit choose among questions of --questions FILE, which is missing."])
        return None, []
    question_set, examples, _ = import_questions(knowledge_base=options["name"], path=path)
    return question_set, _chosen(examples, path.name, options["split"], options["limit"])


def _chosen(examples: Sequence[Example], name: str, split: str | None, limit: int | None) -> list[Example]:
    """Return the questions of a split; where none is named those for training, or all of a file without splits."""
    if split is None and any(example.split for example in examples):
        split = TRAIN
    return select(examples, name, split, limit)


def _show_all(report: dict[str, Any]) -> None:
    title = f"{report['knowledge_base']} · {report['pipeline']} · {report['questions']} questions"
    table = Table("part", "used", "H@1", "MRR", "p", title=title)
    for part in report["parts"]:
        found = {one["metric"]: one for one in part["comparisons"]}
        gains = [f"{found[name]['difference']:+.2f}" if name in found else "–" for name in ("H@1", "MRR")]
        p = f"{found['MRR']['p']:.3g}" if found else "–"
        table.add_row(part["part"], "yes" if part["switched_on"] else "no", *gains, p)
    console = Console()
    console.print(table)
    for part in report["parts"]:
        console.print(f"{part['part']}: {part['reason']}", markup=False, highlight=False)
    state = "in use" if report["active"] else "not in use"
    console.print(
        f"{report['pipeline']} {report['pipeline_version']} is {state}. It took {report['seconds']:.0f} s.",
        markup=False,
        highlight=False,
    )


def _show(report: dict[str, Any]) -> None:
    made = f" + {report['synthesised']['number']} synthesised" if report["synthesised"] else ""
    title = f"{report['artifact']} · {report['knowledge_base']} · {report['questions']}{made} questions"
    columns = list(dict.fromkeys(column for figures in report["table"].values() for column in figures))
    table = Table("", *columns, title=title)
    for name, figures in report["table"].items():
        table.add_row(name, *(f"{figures[column]:.1f}" if column in figures else "–" for column in columns))
    console = Console()
    console.print(table)
    state = "in use" if report["active"] else "saved, not in use"
    made = report.get("new_release") or f"{report['pipeline']} {report['pipeline_version']}"
    if "reason" in report:
        console.print(report["reason"], markup=False, highlight=False)
    console.print(f"{made} is {state}. It took {report['seconds']:.0f} s.", markup=False, highlight=False)
