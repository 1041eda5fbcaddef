"""worker: one worker of jobs in the foreground, until Ctrl-C."""

from __future__ import annotations

import sys
from typing import Any

from celery import current_app
from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import connections
from django.utils.module_loading import import_string


class Command(BaseCommand):
    """Runs a worker."""

    help = "Runs a worker of jobs in the foreground; stopped with Ctrl-C, it hands its job back at once."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--queue", choices=["jobs", "gpu"], default="jobs", help="the queue whose jobs it does")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the worker, and exit with its code."""
        arguments = import_string(settings.GRASP_WORKER_ARGUMENTS)(options["queue"])
        # The processes of the worker are forked; they must not share a connection.
        connections.close_all()
        current_app.start(argv=arguments)
        sys.exit(0)
