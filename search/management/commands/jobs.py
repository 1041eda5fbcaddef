"""jobs: lists, shows, cancels and resumes jobs, as the admin does."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from search.domain.errors import InvalidRequest
from search.domain.time_range import in_words
from search.models import Job
from search.services.jobs.change import cancel_job, resume_job
from search.services.jobs.describe_job import describe_job, reasons_of_queues, summary

LISTED = 50
"""Jobs that are listed unless --limit says otherwise."""


class Command(BaseCommand):
    """Lists, shows, cancels and resumes jobs."""

    help = "Lists jobs, or shows, cancels or resumes one."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        actions = parser.add_subparsers(dest="action", required=True)
        listed = actions.add_parser("list", help="the newest jobs")
        listed.add_argument("--state", choices=[str(state) for state in Job.State], help="only those in this state")
        listed.add_argument("--limit", type=int, default=LISTED, metavar="N", help=f"the newest N ({LISTED})")
        listed.add_argument("--json", action="store_true", help="one JSON object on stdout")
        for action, help_text in (
            ("show", "one job with its log and result"), ("cancel", "end a job within some seconds"),
            ("resume", "let a failed or cancelled job go on from its last checkpoint"),
        ):  # fmt: skip
            one = actions.add_parser(action, help=help_text)
            one.add_argument("id", help="the job's id, or its beginning")
            one.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it. Exit 0 done, 1 not possible in the job's state, 2 no such job."""
        if options["action"] == "list":
            self._list(options)
            return
        job = _found(options["id"])
        try:
            if options["action"] == "cancel":
                cancel_job(job, user=None)
            elif options["action"] == "resume":
                resume_job(job, user=None)
        except InvalidRequest as error:
            raise CommandError(" ".join(fault.sentence for fault in error.faults)) from error
        if options["json"]:
            self.stdout.write(json.dumps(describe_job(job), ensure_ascii=False))
        else:
            self._show(job, whole=options["action"] == "show")

    def _list(self, options: dict[str, Any]) -> None:
        jobs = Job.objects.select_related("user").defer("specification", "result", "notes")
        if options["state"]:
            jobs = jobs.filter(state=options["state"])
        waiting = reasons_of_queues()
        listed = [
            summary(job, waiting.get(job.queue, "") if job.state == Job.State.QUEUED else "")
            for job in jobs[: max(0, options["limit"])]
        ]
        if options["json"]:
            self.stdout.write(json.dumps({"jobs": listed}, ensure_ascii=False))
            return
        table = Table("id", "kind", "knowledge base", "state", "attempt", "progress", "created", "reason")
        for job in listed:
            progress = _progress(job["progress"]) if job["state"] == "running" else ""
            table.add_row(
                job["id"][:8], job["kind"], job["knowledge_base"] or "", job["state"], str(job["attempt"]),
                progress, job["created"][:16].replace("T", " "), job["reason"],
            )  # fmt: skip
        Console().print(table if listed else "There are no jobs.")

    def _show(self, job: Job, whole: bool) -> None:
        told = describe_job(job)
        state = f"{told['title']} {told['knowledge_base'] or ''}".strip() + f" ({told['id']}): {told['state']}"
        asked = ", asked to stop" if told["cancel_requested"] and told["state"] == "running" else ""
        self.stdout.write(f"{state}{asked}, attempt {told['attempt']}. {told['reason']}".rstrip())
        if not whole:
            return
        self.stdout.write(f"Progress: {_progress(told['progress']) or 'none yet'}")
        self.stdout.write(f"Arguments: {json.dumps(told['arguments'], ensure_ascii=False)}")
        for line in told["log"]:
            self.stdout.write(f"{line['at'][:19]}  {line['text']}")
        if told["result"] is not None:
            self.stdout.write(json.dumps(told["result"], indent=1, ensure_ascii=False))


def _found(text: str) -> Job:
    """Return the job with this id, or the only one whose id begins so."""
    jobs = Job.objects.select_related("user")
    try:
        found = list(jobs.filter(pk=UUID(text)))
    except ValueError:
        beginning = text.casefold()
        found = list(jobs.filter(pk__gte=_padded(beginning, "0"), pk__lte=_padded(beginning, "f"))[:2])
    if len(found) != 1:
        problem = f"There is no job {text!r}" if not found else f"Several jobs begin with {text!r}"
        raise CommandError(f"{problem}; `jobs list` lists them.", returncode=2)
    return found[0]


def _padded(beginning: str, digit: str) -> UUID:
    """Return the smallest or largest id that begins so."""
    digits = beginning.replace("-", "")
    if not digits or len(digits) > 32 or not set(digits) <= set("0123456789abcdef"):
        raise CommandError(f"{beginning!r} is not the id of a job; `jobs list` lists them.", returncode=2)
    return UUID(digits.ljust(32, digit))


def _progress(progress: dict[str, Any]) -> str:
    if not progress.get("part"):
        return ""
    share = f"{100 * progress['share']:.0f} %" if "share" in progress else ""
    left = progress.get("seconds_left_range")
    return f"{progress['part']}, {share}" + (f", {in_words(*left)} left" if left else "")
