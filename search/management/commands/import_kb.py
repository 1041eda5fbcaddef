"""import_kb: checks and loads a knowledge base, indexes it, and activates it as a release."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.adapters.graph_neo4j.address import Address
from search.domain.errors import InvalidRequest, SearchError
from search.domain.job_kinds import JobTarget
from search.domain.run_context import RunContext
from search.ingest.detect import Detected
from search.ingest.manifest import BASE_NAME, NAME_RULE
from search.jobs.import_kb import VISIBILITIES, ImportJob
from search.management.console import refuse_shortage, shown
from search.services.imports.folder_source import GuessNotAccepted
from search.services.imports.import_source import import_source
from search.services.imports.place import database, is_neo4j
from search.services.jobs.run_here import recorded
from search.services.knowledge.import_snapshot import FAULTS_SHOWN, ImportFailed, ImportReport

SOURCE_HELP = (
    "folder (or zip, tar, tar.gz, tar.zst) of a bundle (kb.json, nodes.*, edges.*), of neo4j-admin's CSV files, or "
    "of other CSV, TSV, JSON lines or Parquet files; or neo4j://host:port/database, with user and password in "
    "GRASP_IMPORT_NEO4J_USER and GRASP_IMPORT_NEO4J_PASSWORD"
)


def rows(text: str) -> int:
    """Return the number of rows that the argument gives."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError("has to be 0 or more")
    return number


NO_VECTORS = "embed no node: the release is ready sooner, and searched by words and by the graph alone"


class Command(BaseCommand):
    """Imports a knowledge base."""

    help = "Reads, checks and loads a source into a new snapshot, indexes it and activates it as a release."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("source", help=SOURCE_HELP)
        parser.add_argument("--name", help="name of the knowledge base; the one that the source has when not given")
        parser.add_argument("--mapping", type=Path, help="JSON file that says what the columns of plain files are")
        parser.add_argument("--write-mapping", type=Path, help="write the guessed mapping here, import nothing")
        parser.add_argument("--guess", action="store_true", help="import plain files with the guessed mapping")
        parser.add_argument("--visibility", choices=VISIBILITIES, default="", help="who may search it")
        parser.add_argument("--tolerance", type=rows, default=0, help="most bad rows that are left out without failing")
        parser.add_argument("--report", type=Path, help="file for every fault, one JSON object for each line")
        parser.add_argument("--dry-run", action="store_true", help="check the source and load nothing")
        parser.add_argument("--no-index", action="store_true", help="stop when the graph is loaded")
        parser.add_argument("--no-vectors", action="store_true", help=NO_VECTORS)
        parser.add_argument("--no-activate", action="store_true", help="make the release without activating it")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the source; exit code 1 if the import failed, 2 for bad arguments."""
        place = _place(options["source"])
        mapping = _mapping(options["mapping"])
        _check(options)
        dry = options["dry_run"] or options["write_mapping"] is not None
        given = {**options, "place": place, "mapping": mapping, "dry_run": dry}
        job = ImportJob(**_arguments(given))
        if not dry:
            refuse_shortage(job.needs(JobTarget()))
        try:
            with shown(sys.stderr, job.parts(), kind="import", quiet=options["json"]) as run:
                report = _imported(given, run) if dry else _recorded(given, run)
        except SearchError as error:
            raise CommandError(str(error)) from error
        except ImportFailed as failure:
            guess = failure.__cause__
            if isinstance(guess, GuessNotAccepted):
                self._tell_guess(guess.detected, options["write_mapping"])
                if options["write_mapping"] is not None:
                    return
            if options["json"]:
                self.stdout.write(json.dumps(failure.report.to_json() | {"error": str(failure)}, ensure_ascii=False))
            else:
                self._tell_faults(failure.report)
            raise CommandError(str(failure)) from failure
        if options["write_mapping"] is not None:
            raise CommandError(f"{place} needs no mapping: its files say themselves what they hold.")
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False))
        else:
            self._tell(report, options["dry_run"])

    def _tell_guess(self, detected: Detected, target: Path | None) -> None:
        """Write the guessed mapping to the file, and its reasons to stderr."""
        for fault in detected.faults:
            self.stderr.write(str(fault))
        for reason in detected.reasons:
            self.stderr.write(str(reason))
        assert detected.mapping is not None
        if target is None:
            self.stderr.write(
                "--write-mapping FILE writes this guess, --mapping FILE imports with one, --guess with this."
            )
            return
        target.write_text(json.dumps(detected.mapping.to_json(), indent=2, ensure_ascii=False) + "\n")
        self.stdout.write(f"The guessed mapping is in {target}; correct it and import with --mapping {target}.")

    def _tell_faults(self, report: ImportReport) -> None:
        groups = report.fault_groups
        for group in groups[:FAULTS_SHOWN]:
            self.stderr.write(str(group))
        if more := sum(group.rows for group in groups[FAULTS_SHOWN:]):
            self.stderr.write(f"… {more:,} more rows with other faults")

    def _tell(self, report: ImportReport, dry_run: bool) -> None:
        for remark in report.remark_groups[:FAULTS_SHOWN]:
            self.stderr.write(f"Note: {remark}")
        self._tell_faults(report)
        counts = f"{report.nodes:,} nodes, {report.edges:,} edges, {report.bad_rows:,} bad rows"
        seconds = report.seconds["total"]
        if dry_run:
            self.stdout.write(f"{report.knowledge_base}: {counts}; checked in {seconds:.1f} s, nothing loaded.")
        else:
            made = f"release {report.release}" if report.release else f"snapshot {report.snapshot}, not indexed yet"
            self.stdout.write(f"{report.knowledge_base}: {counts}; {made}, in {seconds:.1f} s.")


def _arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the job that does the same."""
    place = options["place"]
    source = str(place.absolute()) if isinstance(place, Path) else f"{place.uri}/{place.database}"
    return {
        "source": source, "mapping": options["mapping"] or {}, "guess": options["guess"],
        "name": options["name"] or "", "tolerance": options["tolerance"], "check_only": options["dry_run"],
        "index": not options["no_index"], "vectors": not options["no_vectors"],
        "activate": not options["no_activate"], "visibility": options["visibility"],
    }  # fmt: skip


def _recorded(options: dict[str, Any], terminal: RunContext) -> ImportReport:
    """Import the source, as a job that the list of jobs shows."""
    with recorded(terminal, kind="import", arguments=_arguments(options)) as job:
        report = _imported(options, job.run)
        job.result = report.to_json()
    return report


def _imported(options: dict[str, Any], run: RunContext) -> ImportReport:
    return import_source(
        place=options["place"], mapping=options["mapping"], name=options["name"] or "", accept_guess=options["guess"],
        tolerance=options["tolerance"], report=options["report"], dry_run=options["dry_run"],
        index=not options["no_index"], embed=not options["no_vectors"],
        activate=not options["no_activate"], visibility=options["visibility"], run=run,
    )  # fmt: skip


def _place(source: str) -> Path | Address:
    if is_neo4j(source):
        try:
            return database(source)
        except InvalidRequest as error:
            raise CommandError(str(error), returncode=2) from None
    if not Path(source).exists():
        raise CommandError(f"{source} is not a folder, an archive or a file.", returncode=2)
    return Path(source)


def _mapping(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        mapping = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise CommandError(f"The mapping {path} cannot be read: {error.strerror}.", returncode=2) from error
    except ValueError as error:
        raise CommandError(f"The mapping {path} is not valid JSON: {error}.", returncode=2) from error
    if not isinstance(mapping, dict):
        raise CommandError(f"The mapping {path} is not a JSON object with 'name' and 'files'.", returncode=2)
    return mapping


def _check(options: dict[str, Any]) -> None:
    """Raise CommandError for arguments that cannot be used."""
    if options["name"] is not None and not BASE_NAME.fullmatch(options["name"]):
        raise CommandError(f"'{options['name']}' is not a valid name for a knowledge base: {NAME_RULE}.", returncode=2)
    for key, what in (("report", "report"), ("write_mapping", "mapping")):
        if options[key] is not None and not options[key].absolute().parent.is_dir():
            raise CommandError(
                f"{options[key].absolute().parent} is not a folder, so no {what} can be written there.", returncode=2
            )
