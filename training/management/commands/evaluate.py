"""`evaluate NAME --questions FILE`: how good each pipeline is on questions with known answers."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand
from rich.console import Console
from rich.table import Table

from search.domain.errors import Fault, InvalidRequest
from search.domain.options import assigned
from search.management.console import shown
from search.services.jobs.run_here import recorded
from training.data.examples import select
from training.evaluation.measures import MEASURES, SEED
from training.management.console import positive, refusals, whole
from training.services.evaluate import REPEATED, evaluate, expected_parts, resume_evaluation
from training.services.evaluations.choose_pipelines import choose_pipelines
from training.services.question_sets import import_questions, name_of

PIPELINE_HELP = (
    "A pipeline, such as `grasp`, `grasp@2` or `grasp@2 fuse.k=5`. May be repeated; `all`, or none: all of them."
)
REPEAT_HELP = "Questions of each pipeline that are asked a second time, to check that the ranking is the same."
ATTRIBUTION_HELP = "Do not find out at which stage the answers were lost that were not found; it is faster."
PROCESSES_HELP = "Processes that ask at the same time. Left out: one for each processor, when there are many questions."


class Command(BaseCommand):
    """Exit 0 done, 1 failed, 2 bad arguments."""

    help = "Asks a file of questions of one or more pipelines and writes report.json, qrels and TREC runs."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--questions", type=Path, metavar="FILE", help="JSON lines, plain or gzip.")
        parser.add_argument("--split", help="Only the questions of this split.")
        parser.add_argument("--pipeline", action="append", metavar="P", help=PIPELINE_HELP)
        parser.add_argument("--release", default="", metavar="R", help="A release; the active one when left out.")
        parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="assigned")
        parser.add_argument("--limit", type=positive, metavar="N", help="N questions, evenly spaced over all.")
        parser.add_argument("--output", required=True, type=Path, metavar="DIR", help="Where the files are written.")
        told = "Search the planner's training questions with a scorer that has not learned from them."
        parser.add_argument("--cross-fitted", action="store_true", help=told)
        parser.add_argument(
            "--seed", type=int, default=SEED, help="Of the intervals, the tests and the repeated sample."
        )
        parser.add_argument("--repeat", type=whole, default=REPEATED, metavar="N", help=REPEAT_HELP)
        parser.add_argument("--processes", type=positive, default=0, metavar="N", help=PROCESSES_HELP)
        parser.add_argument("--no-attribution", action="store_false", dest="attribute", help=ATTRIBUTION_HELP)
        parser.add_argument(
            "--resume", type=UUID, metavar="ID", help="Go on with this evaluation; --questions is not needed."
        )
        parser.add_argument("--json", action="store_true", help="Print the report as one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with refusals(self.stderr):
                report = self._resumed(options) if options["resume"] is not None else self._asked(options)
        except OSError as error:
            self.stderr.write(f"{options['output']}: {error.strerror or error}")
            sys.exit(1)
        for name, reason in report.get("left_out", {}).items():
            self.stderr.write(f"{name} was left out. {reason}")
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        else:
            Console().print(*_tables(report), sep="\n")

    def _resumed(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the report of an evaluation that goes on."""
        with shown(sys.stderr, quiet=options["json"]) as run:
            return resume_evaluation(
                options["resume"], output=options["output"], processes=options["processes"], run=run
            )

    def _asked(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the report of a new evaluation."""
        path: Path | None = options["questions"]
        if path is None:
            raise InvalidRequest([Fault("/questions", "Name the file of the questions with --questions.")])
        chosen = choose_pipelines(options["pipeline"] or ())
        settings = assigned(options["assigned"])
        question_set, examples, _ = import_questions(knowledge_base=options["name"], path=path)
        examples = select(examples, path.name, options["split"], options["limit"])
        arguments = {
            "pipelines": options["pipeline"] or [], "split": options["split"] or "", "limit": options["limit"] or 0,
            "settings": settings, "cross_fitted": options["cross_fitted"], "seed": options["seed"],
            "repeated": options["repeat"], "processes": options["processes"], "attribute": options["attribute"],
            "output": str(options["output"].absolute()),
        }  # fmt: skip
        parts = expected_parts(chosen.names, len(examples), options["repeat"])
        with (
            shown(sys.stderr, parts, kind="evaluate", quiet=options["json"]) as run,
            recorded(
                run, kind="evaluate", knowledge_base=options["name"], question_set=name_of(question_set),
                arguments=arguments, release=options["release"],
            ) as job,
        ):  # fmt: skip
            job.result = evaluate(
                knowledge_base=options["name"],
                examples=examples,
                split=options["split"],
                pipelines=chosen.names,
                settings=settings,
                output=options["output"],
                run=job.run,
                question_set=question_set,
                cross_fitted=options["cross_fitted"],
                release=options["release"],
                seed=options["seed"],
                repeated=options["repeat"],
                processes=options["processes"],
                attribute=options["attribute"],
                partial=True,
                left_out=chosen.left_out,
            )
        report: dict[str, Any] = job.result
        return report


def _tables(report: dict[str, Any]) -> tuple[Table, ...]:
    """Return tables of measures, of times and counts, and of costs: one of all would be too wide for a terminal."""
    title = f"{report['knowledge_base']} · {report['release']} · {report['questions']} questions"
    measures = Table("pipeline", *MEASURES, "calibration error", "sure, wrong", title=title)
    rest = Table("pipeline", "p50 ms", "p95 ms", "answered", "empty", "errors", "seen in training")
    costs = Table("pipeline", "s a question", "model calls", "tokens", "price")
    for name, part in report["pipelines"].items():
        figures = [f"{part['metrics'][measure]:.1f}" for measure in MEASURES]
        times = [f"{part['latency_ms'][p] or 0:.0f}" for p in ("p50", "p95")]
        seen = part["seen_in_training"]
        counts = [str(part[count]) for count in ("answered", "empty", "errors")]
        measures.add_row(name, *figures, *_honesty(part))
        costs.add_row(name, *_cost(part["a_question"]))
        rest.add_row(name, *times, *counts, "?" if seen is None else str(seen))
    return measures, rest, costs


def _cost(cost: dict[str, Any]) -> tuple[str, str, str, str]:
    """Return the mean cost of a question: seconds, calls of language models, their tokens, and the price."""
    tokens = cost["tokens"]["prompt"] + cost["tokens"]["completion"]
    price = f"{cost['price']:.6f} {cost['currency']}" if cost["currency"] and cost["price"] is not None else "–"
    return f"{cost['seconds']:.3f}", f"{cost['calls']:.1f}", f"{tokens:,.0f}", price


def _honesty(part: dict[str, Any]) -> tuple[str, str]:
    """Return the calibration error, and the wrong ones of the first answers that were called almost surely right."""
    calibrated, sure = part["calibration"], part["sure"]
    error = "–" if calibrated is None else f"{calibrated['error']:.3f}"
    return error, "–" if sure is None else f"{sure['wrong']} of {sure['questions']}"
