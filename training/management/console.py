"""Progress bars and error messages of the training commands."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import OutputWrapper
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from search.domain.errors import InvalidRequest, SearchError, StageError
from training.data.examples import BadQuestions


def bars(console: Console) -> Progress:
    """Return progress bars with the remaining time; they are shown only on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


def teller(shown: Progress) -> Callable[[str, int, int | None], None]:
    """Return a callable that takes `(name, done, total)` and draws one progress bar for each name."""
    tasks: dict[str, Any] = {}

    def tell(name: str, done: int, total: int | None) -> None:
        if name not in tasks:
            tasks[name] = shown.add_task(name, total=total)
        shown.update(tasks[name], completed=done)

    return tell


def positive(text: str) -> int:
    """Return the whole number, at least 1, that a text holds. Raises ArgumentTypeError for other texts."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


@contextmanager
def refusals(stderr: OutputWrapper) -> Iterator[None]:
    """Write each fault of the request on a line and exit with 2. Exit with 1 when a search or a tool fails."""
    try:
        yield
        return
    except StageError as error:
        stderr.write(f"{error.reason[:1].upper()}{error.reason[1:]}.")
        sys.exit(1)
    except BadQuestions as error:
        faults = error.faults
    except InvalidRequest as error:
        faults = [fault.sentence for fault in error.faults]
    except SearchError as error:
        stderr.write(str(error))
        sys.exit(1)
    for fault in faults:
        stderr.write(fault)
    sys.exit(2)
