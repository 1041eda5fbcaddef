"""`questions_from_feedback NAME`: make a question set of what people said about the results of searches."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone
from django.utils.dateparse import parse_date

from training.data.splitting import parse_shares
from training.management.console import refusals
from training.services.check_questions import SplitOptions, prepare_questions
from training.services.question_sets import existing_base, store_prepared
from training.services.questions_from_feedback import described, notes_of, questions_from_feedback


def day(text: str) -> datetime:
    """Return the beginning of a day that is written as 2026-01-31. Raises ArgumentTypeError for other texts."""
    try:
        found = parse_date(text)
    except ValueError:
        found = None
    if found is None:
        raise ArgumentTypeError(f"a day such as 2026-01-31, not {text!r}")
    return datetime(found.year, found.month, found.day, tzinfo=timezone.get_current_timezone())


class Command(BaseCommand):
    """Exit 0 done; 2 bad arguments, or no feedback that names an answer."""

    help = "Makes a question set of feedback: what people marked as right or missing are the answers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The knowledge base.")
        parser.add_argument("--set-name", default="feedback", metavar="S", help="Name of the set (feedback).")
        parser.add_argument("--since", type=day, metavar="DAY", help="Leave out older feedback, such as 2026-01-31.")
        parser.add_argument("--split", default="", metavar="SHARES", help="Such as train=80,val=10,test=10.")
        parser.add_argument("--seed", type=int, default=0, help="Draws the splits; the same seed draws the same ones.")
        parser.add_argument("--json", action="store_true", help="Print one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals(self.stderr):
            base = existing_base(options["name"])
            gathered = questions_from_feedback(base, options["since"])
            asked = SplitOptions(shares=parse_shares(options["split"]), seed=options["seed"])
            prepared = prepare_questions(base, gathered.examples, asked)
            question_set, new = store_prepared(
                knowledge_base=base.name, prepared=prepared, name=options["set_name"], source="feedback"
            )
        if options["json"]:
            told = {
                "knowledge_base": base.name, "question_set": question_set.name, "version": question_set.version,
                "questions": question_set.questions_count, "splits": question_set.splits, "new": new,
                "checks": prepared.checks, **described(gathered),
            }  # fmt: skip
            self.stdout.write(json.dumps(told, ensure_ascii=False))
            return
        state = "kept as" if new else "known as"
        self.stdout.write(f"{question_set.questions_count:,} questions, {state} {question_set}.")
        for note in notes_of(gathered):
            self.stdout.write(f"  {note}")
