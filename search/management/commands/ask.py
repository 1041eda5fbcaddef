"""ask NAME "question": runs one search in this process and shows the explanation of its results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError

from search.domain.errors import InvalidRequest, StageError
from search.domain.options import assigned
from search.management.shown_search import shown
from search.models import SearchRun
from search.services.searches.check_request import SearchRejected
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.reword import reword_answer
from search.services.searches.run_search import run_search


class Command(BaseCommand):
    """Exit 0 if the search was answered, 1 if it failed, 2 for bad arguments or an invalid request."""

    help = "Asks a knowledge base one question, in this process, and shows the plan, the results and their arithmetic."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="the knowledge base")
        parser.add_argument("question")
        parser.add_argument("--pipeline", default="", metavar="P", help="the site's default when left out")
        parser.add_argument(
            "--set", action="append", default=[], metavar="KEY=VALUE", dest="assigned",
            help="a setting of the pipeline, its value as JSON or as it stands; may be repeated",
        )  # fmt: skip
        parser.add_argument("--plan", type=Path, metavar="FILE", help="a plan as JSON, run instead of a planned one")
        parser.add_argument(
            "--follows", metavar="ID", help="id of the search that the question follows: its plan is changed"
        )
        parser.add_argument("-k", type=int, default=20, help="how many results are explained, 1 to 100")
        parser.add_argument(
            "--reword", action="store_true",
            help="say the answer in the words of the site's language model, as far as its sources bear them out",
        )  # fmt: skip
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout, as the API gives it")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the search and show its results."""
        try:
            run = self._ask(options)
        except SearchRejected as error:
            lines = [f"{fault.pointer}: {fault.sentence}" for fault in error.faults]
            raise CommandError("\n".join(lines), returncode=2) from error
        except (OperationalError, InterfaceError) as error:
            raise CommandError("Postgres does not answer; ask again once it runs.") from error
        described = describe_search(run)
        described = reword_answer(described) if options["reword"] else described
        if options["json"]:
            self.stdout.write(json.dumps(described, ensure_ascii=False))
        else:
            self.stdout.write(shown(described, coloured=self.stdout.isatty()))
        if run.status != SearchRun.Status.DONE:
            raise CommandError(str((run.error or {}).get("detail") or f"The search was {run.status}."))

    def _ask(self, options: dict[str, Any]) -> SearchRun:
        try:
            settings = assigned(options["assigned"])
        except InvalidRequest as error:
            raise CommandError("\n".join(fault.sentence for fault in error.faults), returncode=2) from error
        run = request_search(
            knowledge_base=options["name"],
            question=options["question"],
            pipeline=options["pipeline"],
            k=options["k"],
            plan=_plan(options["plan"]) if options["plan"] else None,
            settings=settings,
            follows=options["follows"],
            user=None,
            origin=SearchRun.Origin.COMMAND,
            enqueue=False,
        )
        try:
            return run_search(run.pk)
        except StageError:
            run.refresh_from_db()
            return run


def _plan(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"--plan: {file} cannot be read: {error.strerror}.", returncode=2) from error
    except (ValueError, RecursionError) as error:
        raise CommandError(f"--plan: {file} is not JSON: {error}.", returncode=2) from error
