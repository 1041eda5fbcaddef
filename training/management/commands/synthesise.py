"""`synthesise NAME --output FILE`: make questions with answers of a knowledge base alone."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from search.management.console import shown
from search.services.jobs.run_here import recorded
from training.jobs.synthesise import SynthesiseJob
from training.management.console import positive, refusals, whole
from training.services.synthesise import NUMBER, write_questions


class Command(BaseCommand):
    """Exit 0 done, also where the base gave fewer questions; 1 failed, 2 bad arguments."""

    help = "Makes questions with answers of a knowledge base alone, in the format of question files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="JSON lines; .gz compresses.")
        parser.add_argument(
            "--number", type=positive, default=NUMBER, metavar="N", help=f"Questions to make ({NUMBER:,})."
        )
        parser.add_argument(
            "--seed", type=whole, default=0, metavar="S", help="The same seed gives the same questions."
        )
        told = "Also ask for exclusions, orders, comparisons and numbers (bases in English)."
        parser.add_argument("--conditions", action="store_true", help=told)
        parser.add_argument("--json", action="store_true", help="Print the report as one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        number, seed = options["number"], options["seed"]
        try:
            with refusals(self.stderr):
                arguments = {"number": number, "seed": seed}
                with (
                    shown(sys.stderr, SynthesiseJob().parts(), kind="synthesise", quiet=options["json"]) as terminal,
                    recorded(terminal, kind="synthesise", knowledge_base=options["name"], arguments=arguments) as job,
                ):
                    report = write_questions(
                        knowledge_base=options["name"], path=options["output"], number=number, seed=seed, run=job.run,
                        conditions=options["conditions"],
                    )  # fmt: skip
                    job.result = report
        except OSError as error:
            self.stderr.write(f"{error.filename or options['output']}: {error.strerror or error}")
            sys.exit(1)
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False))
            return
        made = f"{report['questions']:,} questions of {report['release']} are in {report['output']}"
        fewer = "" if report["questions"] == number else f"; {number:,} were wanted, and the base gave no more"
        self.stdout.write(f"{made}{fewer}.")
        for kind, count in sorted(report["kinds"].items(), key=lambda one: -one[1]):
            self.stdout.write(f"  {count:,} · {kind}")
