"""check: Django's own, which asks the database too wherever it answers, so that releases are checked with the rest."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import check
from django.db import DatabaseError, connection


class Command(check.Command):
    """Django's `check`; without `--database` or `--tag` it takes the default database where that is there."""

    def handle(self, *app_labels: Any, **options: Any) -> None:
        """Check everything; exit code 1 where something is wrong."""
        if not options["databases"] and not options["tags"] and not app_labels:
            if _answers():
                options["databases"] = ["default"]
            else:
                self.stderr.write("Postgres does not answer, so no release was checked; `make run` starts it.")
        super().handle(*app_labels, **options)


def _answers() -> bool:
    try:
        connection.ensure_connection()
    except DatabaseError:
        return False
    return True
