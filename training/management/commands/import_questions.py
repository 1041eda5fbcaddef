"""`import_questions NAME FILE`: keep a file of questions as a version of a question set."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from training.management.console import refusals
from training.services.question_sets import import_questions


class Command(BaseCommand):
    """Exit 0 done, also where the content is known already; 2 bad arguments."""

    help = "Keeps questions with known answers as a question set: JSON lines, STaRK's CSV, or TREC topics with qrels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("file", type=Path, help="JSON lines, STaRK's CSV, TREC topics, or a folder with qrels.")
        parser.add_argument("--qrels", type=Path, metavar="FILE", help="The judgments, where FILE holds TREC topics.")
        parser.add_argument("--set-name", default="", metavar="S", help="Name of the set; else that of the file.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals(self.stderr):
            question_set, _, new = import_questions(
                knowledge_base=options["name"],
                path=options["file"],
                name=options["set_name"],
                qrels=options["qrels"],
            )
        told = {
            "knowledge_base": options["name"], "question_set": question_set.name, "version": question_set.version,
            "questions": question_set.questions_count, "splits": question_set.splits,
            "content_hash": question_set.content_hash, "new": new,
        }  # fmt: skip
        if options["json"]:
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        parts = ", ".join(f"{count:,} {split or 'without a split'}" for split, count in question_set.splits.items())
        state = "kept as" if new else "is known as"
        self.stdout.write(f"{options['file'].name} {state} {question_set.name} {question_set.version}: {parts}.")
