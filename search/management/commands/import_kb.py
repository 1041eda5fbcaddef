"""import_kb: checks and loads a bundle, indexes it, and activates it as a release."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.domain.errors import SearchError
from search.domain.run_context import RunContext
from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.ingest.size import bundle_size
from search.management.console import refuse_shortage, shown
from search.services.jobs.run_here import recorded
from search.services.knowledge.expected import import_needs, import_parts, new_dimensions
from search.services.knowledge.import_snapshot import FAULTS_SHOWN, ImportFailed, ImportReport, import_snapshot


def rows(text: str) -> int:
    """Return the number of rows that the argument gives."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("has to be 0 or more")
    return number


class Command(BaseCommand):
    """Imports a knowledge base."""

    help = "Reads, checks and loads a bundle into a new snapshot, indexes it and activates it as a release."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("source", type=Path, help="folder with kb.json, nodes.* and edges.*")
        parser.add_argument("--name", help="name of the knowledge base; the one in kb.json when not given")
        parser.add_argument("--tolerance", type=rows, default=0, help="most bad rows that are left out without failing")
        parser.add_argument("--report", type=Path, help="file for every fault, one JSON object for each line")
        parser.add_argument("--dry-run", action="store_true", help="check the bundle and load nothing")
        parser.add_argument("--no-index", action="store_true", help="stop when the graph is loaded")
        parser.add_argument("--no-activate", action="store_true", help="make the release without activating it")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the bundle; exit code 1 if the import failed, 2 for bad arguments."""
        source: Path = options["source"]
        if not source.is_dir():
            raise CommandError(f"{source} is not a folder.", returncode=2)
        if options["name"] is not None and not BASE_NAME.fullmatch(options["name"]):
            raise CommandError(
                f"'{options['name']}' is not a valid name for a knowledge base: {NAME_RULE}.", returncode=2
            )
        if options["report"] is not None and not options["report"].absolute().parent.is_dir():
            raise CommandError(
                f"{options['report'].absolute().parent} is not a folder, so no report can be written there.",
                returncode=2,
            )
        size, index = bundle_size(source), not options["no_index"] and not options["dry_run"]
        if not options["dry_run"]:
            refuse_shortage(import_needs(size, new_dimensions(), index=index))
        parts = import_parts(size, index=index)
        try:
            with shown(sys.stderr, parts, quiet=options["json"]) as run:
                report = _imported(options, run) if options["dry_run"] else _recorded(options, run)
        except SearchError as error:
            raise CommandError(str(error)) from error
        except ImportFailed as failure:
            if options["json"]:
                self.stdout.write(json.dumps(failure.report.to_json() | {"error": str(failure)}, ensure_ascii=False))
            else:
                self._tell_faults(failure.report)
            raise CommandError(str(failure)) from failure
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False))
        else:
            self._tell(report, options["dry_run"])

    def _tell_faults(self, report: ImportReport) -> None:
        for fault in report.faults[:FAULTS_SHOWN]:
            self.stderr.write(str(fault))
        if report.bad_rows > FAULTS_SHOWN:
            self.stderr.write(f"… {report.bad_rows - FAULTS_SHOWN:,} more")

    def _tell(self, report: ImportReport, dry_run: bool) -> None:
        for remark in report.remarks[:FAULTS_SHOWN]:
            self.stderr.write(f"Note: {remark}")
        self._tell_faults(report)
        counts = f"{report.nodes:,} nodes, {report.edges:,} edges, {report.bad_rows:,} bad rows"
        seconds = report.seconds["total"]
        if dry_run:
            self.stdout.write(f"{report.knowledge_base}: {counts}; checked in {seconds:.1f} s, nothing loaded.")
        else:
            made = f"release {report.release}" if report.release else f"snapshot {report.snapshot}, not indexed yet"
            self.stdout.write(f"{report.knowledge_base}: {counts}; {made}, in {seconds:.1f} s.")


def _recorded(options: dict[str, Any], terminal: RunContext) -> ImportReport:
    """Import the bundle, as a job that the list of jobs shows."""
    arguments = {
        "source": str(options["source"].absolute()), "name": options["name"] or "", "tolerance": options["tolerance"],
        "index": not options["no_index"], "activate": not options["no_activate"],
    }  # fmt: skip
    with recorded(terminal, kind="import", arguments=arguments) as job:
        report = _imported(options, job.run)
        job.result = report.to_json()
    return report


def _imported(options: dict[str, Any], run: RunContext) -> ImportReport:
    return import_snapshot(
        source=options["source"], name=options["name"], tolerance=options["tolerance"], report=options["report"],
        dry_run=options["dry_run"], index=not options["no_index"], activate=not options["no_activate"], run=run,
    )  # fmt: skip
