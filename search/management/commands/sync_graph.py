"""sync_graph: copies the active snapshot of a knowledge base into Neo4j, or compares it with its copy there."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.domain.errors import SearchError
from search.domain.run_context import RunContext
from search.management.console import shown
from search.models import KnowledgeBase
from search.services.jobs.run_here import recorded
from search.services.knowledge.expected import base_size, sync_parts
from search.services.knowledge.knowledge_bases import named
from search.services.knowledge.releases import ReleaseError
from search.services.knowledge.sync_graph import SyncFailed, SyncReport, check_graph, sync_graph


class Command(BaseCommand):
    """Copies a knowledge base into Neo4j."""

    help = "Copies the graph of a knowledge base's active release into Neo4j; with --check it only compares."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="name of the knowledge base")
        parser.add_argument("--check", action="store_true", help="compare only; exit 1 if anything differs")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Copy or compare; exit code 1 if there are differences or an error."""
        try:
            knowledge_base = named(options["name"])
        except ReleaseError as error:
            raise CommandError(str(error), returncode=2) from error
        try:
            with shown(
                sys.stderr, sync_parts(base_size(knowledge_base)), kind="sync_graph", quiet=options["json"]
            ) as run:
                synced = (
                    check_graph(knowledge_base=knowledge_base, run=run)
                    if options["check"]
                    else _synced(knowledge_base, run)
                )
        except (SyncFailed, SearchError) as error:
            if options["json"]:
                self.stdout.write(json.dumps({"knowledge_base": knowledge_base.name, "error": str(error)}))
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(synced.to_json(), ensure_ascii=False))
        else:
            self._tell(synced)
        if synced.differences:
            raise CommandError(f"Neo4j differs from {synced.knowledge_base}; manage.py sync_graph repairs it.")

    def _tell(self, synced: SyncReport) -> None:
        for difference in synced.differences:
            self.stderr.write(difference)
        counts = f"{synced.nodes:,} nodes, {synced.edges:,} edges"
        if synced.outcome == "compared":
            if not synced.differences:
                self.stdout.write(f"{synced.knowledge_base}: Neo4j holds the same {counts}.")
            return
        if synced.outcome == "up to date":
            self.stdout.write(f"{synced.knowledge_base}: {counts}; Neo4j is up to date, nothing was written.")
            return
        speed = synced.edges / max(synced.seconds.get("edges", 0.0), 0.001)
        self.stdout.write(
            f"{synced.knowledge_base}: {counts}; {synced.outcome} in {synced.seconds['total']:.1f} s "
            f"({speed:,.0f} edges a second)."
        )


def _synced(knowledge_base: KnowledgeBase, terminal: RunContext) -> SyncReport:
    """Copy the graph, as a job that the list of jobs shows."""
    with recorded(terminal, kind="sync_graph", knowledge_base=knowledge_base.name, arguments={}) as job:
        synced = sync_graph(knowledge_base=knowledge_base, run=job.run)
        job.result = synced.to_json()
    return synced
