"""prune_runs: deletes searches that are older than the site keeps them."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from search.services.searches.prune_runs import prune_runs

MOST_DAYS = 36_500
"""Largest value of --days."""


class Command(BaseCommand):
    """Deletes old runs."""

    help = "Deletes searches and calls of language models that were made longer ago than GRASP_RUNS_DAYS or --days."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        default = settings.GRASP_RUNS_DAYS
        parser.add_argument("--days", type=_days, metavar="N", help=f"keep those of the last N days ({default})")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete the old runs and report their number."""
        days = settings.GRASP_RUNS_DAYS if options["days"] is None else options["days"]
        deleted = prune_runs(days)
        if options["json"]:
            self.stdout.write(json.dumps({"deleted": deleted, "days": days}))
        else:
            self.stdout.write(f"{deleted:,} searches older than {days} days were deleted.")


def _days(text: str) -> int:
    if not text.isdecimal() or int(text) > MOST_DAYS:
        raise ArgumentTypeError(f"takes a whole number of days from 0 to {MOST_DAYS}, not {text!r}")
    return int(text)
