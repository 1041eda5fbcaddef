"""document_pipelines: writes docs/pipelines.md, the page on the pipelines' settings, to stdout."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from search.services.pipelines.document_pipelines import document_pipelines


class Command(BaseCommand):
    """Writes docs/pipelines.md."""

    help = "Writes the page docs/pipelines.md to stdout."
    requires_system_checks = []

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the page."""
        self.stdout.write(document_pipelines(), ending="")
