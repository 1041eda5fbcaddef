"""record_search: write what a running search does, step by step, and close its row, also when Postgres went away."""

from __future__ import annotations

import time
from typing import Any

from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from search.domain.trace import VERSION, Step
from search.interfaces import NodeStore
from search.models import SearchRun, SearchStep
from search.services.searches.storable import storable_output, storable_text

WRITTEN = [
    "name",
    "role",
    "version",
    "backend",
    "status",
    "seconds",
    "detail",
    "output",
    "prompt_fingerprint",
    "tokens",
]
PATIENCE = 15.0
"""Seconds that the end of a search waits for Postgres to come back."""
PAUSE = 0.25
"""Seconds between two attempts to write the end of a search."""


class Recorder:
    """Turns steps into rows, with ids instead of keys, for a key means nothing once the snapshot is gone."""

    def __init__(self, run: SearchRun, live: bool) -> None:
        self.run, self.live = run, live
        self.nodes: NodeStore | None = None
        self.began = time.perf_counter()
        self.rows: list[SearchStep] = []
        self._position: dict[int, int] = {}
        self._unwritten: set[int] = set()

    def observe(self, step: Step) -> None:
        """Take a finished step, or a step again whose status changed."""
        position = self._position.setdefault(id(step), len(self._position))
        if position == len(self.rows):
            self.rows.append(SearchStep(run=self.run, position=position, output=self._output(step)))
        row = self.rows[position]
        row.name, row.role, row.version = step.name, step.role, VERSION
        row.backend, row.status, row.seconds = step.backend, step.status, step.seconds
        row.detail, row.tokens = storable_text(step.detail), step.tokens
        row.prompt_fingerprint = step.prompt_fingerprint
        self._unwritten.add(position)
        if self.live:
            self._write_now()

    def write(self, *, every: bool = False) -> None:
        """Write the rows that are new or changed, or all of them; a row that is there already is replaced."""
        positions = range(len(self.rows)) if every else sorted(self._unwritten)
        for position in positions:
            # One by one: several would travel as arrays of texts, and every quote in their JSON be escaped twice.
            SearchStep.objects.bulk_create(
                [self.rows[position]],
                update_conflicts=True,
                unique_fields=["run", "position"],
                update_fields=WRITTEN,
            )

    def _write_now(self) -> None:
        """Write while the search runs. Where that fails the search goes on: the rows are written at its end."""
        try:
            self.write()
            self._unwritten.clear()
        except DatabaseError:
            self.live = False
            connection.close()

    def _output(self, step: Step) -> Any:
        return storable_output(with_ids(step.output, self.nodes))


def close_run(run: SearchRun, recorder: Recorder) -> None:
    """Write the end of a run: its steps, status, answer and error. A row that was closed already stays as it is.

    Postgres may be restarting just now, so this tries again for some seconds, each time over a fresh connection, and
    raises what Django raises when it stays away.
    """
    run.finished = timezone.now()
    patience, again = time.monotonic() + PATIENCE, False
    while True:
        try:
            with transaction.atomic():
                recorder.write(every=again)
                SearchRun.objects.filter(pk=run.pk, status=SearchRun.Status.RUNNING).update(
                    status=run.status, answer=run.answer, error=run.error, seconds=run.seconds, finished=run.finished
                )
            return
        except (OperationalError, InterfaceError):
            connection.close()
            if time.monotonic() > patience:
                raise
            again = True
            time.sleep(PAUSE)


def with_ids(output: Any, nodes: NodeStore | None) -> Any:
    """Return a step's output with every list of keys replaced by a list of ids."""
    if nodes is None:
        return output
    if isinstance(output, list):
        return [with_ids(item, nodes) for item in output]
    if not isinstance(output, dict):
        return output
    return {
        ("ids" if name == "keys" else name): nodes.ids(value) if name == "keys" else with_ids(value, nodes)
        for name, value in output.items()
    }
