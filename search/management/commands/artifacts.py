"""`artifacts list|show|check|delete`: what trainings have made, whether its files are whole, and what uses it."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from search.domain.errors import InvalidRequest
from search.models import Artifact
from search.services.pipelines.check_artifacts import unusable
from search.services.pipelines.delete_artifact import delete_artifact, uses_of, versions_with
from search.services.pipelines.pack_artifact import card_of, files_of
from search.services.pipelines.serve_adapter import serving_of


class Command(BaseCommand):
    """Exit 0 done, 1 refused or damaged, 2 bad arguments."""

    help = "Lists and shows artifacts, checks their files, and deletes those that nothing uses."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="List them, the newest first.")
        listing.add_argument("name", nargs="?", help="Only those of this knowledge base.")
        for verb, help_text in (
            ("show", "Show the model card and what uses it."),
            ("check", "Compare its files with what was registered."),
            ("delete", "Delete it, unless something uses it."),
        ):
            verbs.add_parser(verb, help=help_text).add_argument("artifact", help="Its id.")
        for verb_parser in verbs.choices.values():
            verb_parser.add_argument("--json", action="store_true", help="Print one JSON object on stdout.")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["verb"] == "list":
            self._list(options)
            return
        artifact = Artifact.objects.select_related("knowledge_base").filter(pk=options["artifact"]).first()
        if artifact is None:
            self.stderr.write(f"There is no artifact {options['artifact'][:80]!r}; `artifacts list` shows all.")
            sys.exit(2)
        {"show": self._show, "check": self._check, "delete": self._delete}[options["verb"]](artifact, options)

    def _list(self, options: dict[str, Any]) -> None:
        found = Artifact.objects.select_related("knowledge_base")
        if options["name"]:
            found = found.filter(knowledge_base__name=options["name"])
        rows = [_row(artifact) for artifact in found]
        if options["json"]:
            self._print({"artifacts": rows})
            return
        for row in rows:
            used = ", ".join(row["uses"]) or "nothing uses it"
            self.stdout.write(f"{row['artifact']}  {row['kind']}  {row['knowledge_base']}  {row['created']}  {used}")

    def _show(self, artifact: Artifact, options: dict[str, Any]) -> None:
        served = serving_of(artifact)
        versions = [str(version) for version in versions_with(artifact)]
        if options["json"]:
            command = {"command": served.command, "faults": served.faults} if served else None
            self._print({**_row(artifact), "versions": versions, "card": card_of(artifact), "vllm": command})
            return
        self.stdout.write(card_of(artifact) or f"{artifact.pk} has no card.")
        self.stdout.write(f"Versions that name it: {', '.join(versions) or 'none'}.")
        self.stdout.write(f"In use by: {', '.join(uses_of(artifact)) or 'nothing'}.")
        if served:
            self.stdout.write(served.command)
            for fault in served.faults:
                self.stdout.write(fault)

    def _check(self, artifact: Artifact, options: dict[str, Any]) -> None:
        fault = unusable(artifact, artifact.knowledge_base)
        if options["json"]:
            self._print({**_row(artifact), "usable": not fault, "reason": fault or None})
        else:
            self.stdout.write(fault or f"{artifact.pk} is whole: {len(files_of(artifact))} files.")
        if fault:
            sys.exit(1)

    def _delete(self, artifact: Artifact, options: dict[str, Any]) -> None:
        row = _row(artifact)
        try:
            delete_artifact(artifact, user=None)
        except InvalidRequest as error:
            self.stderr.write(str(error))
            sys.exit(1)
        if options["json"]:
            self._print({**row, "deleted": True})
        else:
            self.stdout.write(f"{row['artifact']} was deleted.")

    def _print(self, value: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, default=str))


def _row(artifact: Artifact) -> dict[str, Any]:
    return {
        "artifact": artifact.pk,
        "kind": artifact.kind,
        "knowledge_base": artifact.knowledge_base.name,
        "created": artifact.created.isoformat(),
        "content_hash": artifact.content_hash or None,
        "metrics": artifact.metrics,
        "uses": uses_of(artifact),
    }
