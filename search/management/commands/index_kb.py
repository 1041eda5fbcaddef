"""index_kb: builds the missing indexes of the newest snapshot of a knowledge base, or continues building them."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.domain.errors import InvalidRequest, SearchError
from search.domain.vector_kinds import USUAL
from search.management.console import refuse_shortage, shown
from search.models import KnowledgeBase
from search.models.knowledge import BuildStatus
from search.services.jobs.run_here import recorded
from search.services.knowledge.expected import index_needs, index_parts, new_dimensions, snapshot_size
from search.services.knowledge.index_snapshot import IndexFailed, IndexReport, build_index

NO_VECTORS = "embed no node: the release is ready sooner, and searched by words and by the graph alone"


class Command(BaseCommand):
    """Indexes a knowledge base."""

    help = "Builds or resumes the indexes of a knowledge base's newest snapshot, and makes its release."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="name of the knowledge base")
        parser.add_argument("--kind", action="append", default=[], dest="kinds", metavar="KIND",
                            help="a further kind of vectors: document, chunk, passage, passage:drops, field:<name> or "
                                 "relation:<name>; may be repeated")  # fmt: skip
        parser.add_argument("--no-vectors", action="store_true", help=NO_VECTORS)
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Index the snapshot; exit code 1 if no release was made, 2 if there is no such knowledge base."""
        knowledge_base = KnowledgeBase.objects.filter(name=options["name"]).first()
        if knowledge_base is None:
            raise CommandError(f"There is no knowledge base '{options['name']}'.", returncode=2)
        snapshot = knowledge_base.snapshots.filter(status=BuildStatus.READY).order_by("-pk").first()
        if snapshot is None:
            raise CommandError(f"'{knowledge_base.name}' has no snapshot that is loaded; import it first.")
        embed = not options["no_vectors"]
        if options["kinds"] and not embed:
            raise CommandError("--kind adds vectors, and --no-vectors makes none; give one of them.", returncode=2)
        size, kinds = snapshot_size(snapshot), len({*USUAL, *options["kinds"]}) if embed else 0
        refuse_shortage(index_needs(size, new_dimensions(), kinds))
        parts = index_parts(size, kinds)
        try:
            with (
                shown(sys.stderr, parts, kind="index", quiet=options["json"]) as terminal,
                recorded(
                    terminal,
                    kind="index",
                    knowledge_base=knowledge_base.name,
                    arguments={"kinds": options["kinds"], "vectors": embed},
                ) as job,  # fmt: skip
            ):
                indexed = build_index(snapshot=snapshot, run=job.run, kinds=options["kinds"], embed=embed)
                job.result = _outcome(indexed)
        except InvalidRequest as error:
            raise CommandError(str(error), returncode=2) from error
        except (IndexFailed, SearchError) as error:
            raise CommandError(str(error)) from error
        self._tell(indexed, options["json"])

    def _tell(self, indexed: IndexReport, as_json: bool) -> None:
        release = indexed.release
        if as_json:
            self.stdout.write(json.dumps(_outcome(indexed)))
            return
        took = sum(indexed.seconds.values())
        texts = f"{indexed.embedded:,} texts embedded, {indexed.reused:,} known"
        activate = f"manage.py activate_release {release.knowledge_base.name} {release.number}"
        active = release.knowledge_base.active_release_id == release.pk
        self.stdout.write(
            f"{release.name} is ready: {texts}, in {took:.1f} s." + ("" if active else f" Next: {activate}")
        )


def _outcome(indexed: IndexReport) -> dict[str, Any]:
    release = indexed.release
    return {
        "knowledge_base": release.knowledge_base.name,
        "snapshot": release.snapshot_id,
        "release": release.name,
        "embedded": indexed.embedded,
        "reused": indexed.reused,
        "seconds": {part: round(seconds, 3) for part, seconds in indexed.seconds.items()},
    }
