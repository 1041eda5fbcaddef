"""`export_judgements NAME QUEUE --as qrels|jsonl|questions`: the judgements of a queue as a file or a question set."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from training.management.console import refusals
from training.services.annotation.export import FORMATS, PROVENANCE, export_queue, make_question_set, queue_named

QUESTIONS = "questions"


class Command(BaseCommand):
    """Exit 0 done; 2 bad arguments, or nothing to export."""

    help = "Writes the judgements of an annotation queue, or makes a new version of a question set of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("queue", help="The queue's name, or its number.")
        parser.add_argument("--as", dest="form", choices=(*FORMATS, QUESTIONS), default=QUESTIONS, help="What is made.")
        parser.add_argument("--output", type=Path, metavar="FILE", help="The file; else it goes to stdout.")
        parser.add_argument("--set-name", default="", metavar="S", help="Name of the set; else that of the queue's.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object on stdout; needs --output.")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals(self.stderr):
            queue = queue_named(options["name"], options["queue"])
            if options["form"] == QUESTIONS:
                made, new = make_question_set(queue, name=options["set_name"])
                told: dict[str, Any] = {
                    "knowledge_base": options["name"], "queue": queue.name, "question_set": made.name,
                    "version": made.version, "questions": made.questions_count, "new": new,
                    "provenance": made.checks.get(PROVENANCE),
                }  # fmt: skip
                said = f"{made} {'is saved' if new else 'was there already'}: {made.source}"
            else:
                file = export_queue(queue, options["form"])
                text = "".join(file.content)
                if options["output"] is None:
                    self.stdout.write(text, ending="")
                    return
                options["output"].write_text(text, encoding="utf-8")
                lines = text.count("\n")
                told = {"knowledge_base": options["name"], "queue": queue.name, "file": str(options["output"]),
                        "lines": lines}  # fmt: skip
                said = f"{options['output']}: {lines:,} lines."
        self.stdout.write(json.dumps(told, ensure_ascii=False) if options["json"] else said)
