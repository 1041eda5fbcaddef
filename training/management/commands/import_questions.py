"""`import_questions NAME FILE`: check a file of questions and keep it as a version of a question set."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from training.data.splitting import parse_shares
from training.management.console import refusals
from training.models import QuestionSet
from training.services.check_questions import KEEP, MOVE, REFUSE, SplitOptions
from training.services.question_sets import import_checked

UNKNOWN_SHOWN = 10


class Command(BaseCommand):
    """Exit 0 done, also where the content is known already; 2 bad arguments, or questions that are refused."""

    help = (
        "Keeps questions with known answers as a question set: JSON lines, STaRK's CSV, TREC topics with qrels, or "
        "lines of question, tab and answers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument(
            "file", type=Path, help="JSON lines, STaRK's CSV, tab-separated text, TREC topics, or a folder with qrels."
        )
        parser.add_argument("--qrels", type=Path, metavar="FILE", help="The judgments, where FILE holds TREC topics.")
        parser.add_argument("--set-name", default="", metavar="S", help="Name of the set; else that of the file.")
        parser.add_argument(
            "--duplicates", choices=(REFUSE, KEEP), default=REFUSE,
            help="Whether questions of different splits that say the same are refused (the default) or kept.",
        )  # fmt: skip
        parser.add_argument(
            "--move-duplicates", default="", metavar="SPLIT", help="Move each group of them as a whole into this split."
        )
        parser.add_argument(
            "--split", default="", metavar="SHARES",
            help="Divide questions without splits, such as train=80,val=10,test=10; duplicates stay together.",
        )  # fmt: skip
        parser.add_argument("--seed", type=int, default=0, help="Draws the splits; the same seed draws the same ones.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        into = options["move_duplicates"]
        with refusals(self.stderr):
            question_set, prepared, new = import_checked(
                knowledge_base=options["name"],
                path=options["file"],
                name=options["set_name"],
                qrels=options["qrels"],
                options=SplitOptions(
                    duplicates=MOVE if into else options["duplicates"],
                    into=into,
                    shares=parse_shares(options["split"]),
                    seed=options["seed"],
                ),
            )
        told = {
            "knowledge_base": options["name"], "question_set": question_set.name, "version": question_set.version,
            "questions": question_set.questions_count, "splits": question_set.splits,
            "content_hash": question_set.content_hash, "new": new, "checks": prepared.checks,
        }  # fmt: skip
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        for line in _told(options["file"].name, question_set, new, prepared.checks):
            self.stdout.write(line)


def _told(file: str, question_set: QuestionSet, new: bool, checks: dict[str, Any]) -> Iterator[str]:
    """Yield what was stored, and what the check found, as sentences."""
    parts = ", ".join(f"{count:,} {split or 'without a split'}" for split, count in question_set.splits.items())
    state = "kept as" if new else "is known as"
    yield f"{file} {state} {question_set.name} {question_set.version}: {parts}."
    duplicates, answers = checks["duplicates"], checks["answers"]
    if duplicates["groups"]:
        yield (
            f"{duplicates['questions']:,} questions say the same as another, in {duplicates['groups']:,} groups. "
            f"{duplicates['across_splits']:,} groups are in different splits; {duplicates['moved']:,} questions were "
            "moved."
        )
    if answers["release"] is None:
        yield "The answers were not looked up: the knowledge base has no active release."
    elif answers["unknown"]:
        yield f"{answers['unknown']:,} answers are no node of {answers['release']}:"
        for one in answers["shown"][:UNKNOWN_SHOWN]:
            meant = f"; the nearest is {one['nearest']!r}" if one["nearest"] else ""
            yield f"  {one['answer']!r} (question {one['questions'][0]!r}){meant}"
