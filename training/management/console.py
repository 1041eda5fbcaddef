"""What the commands of training show while they work."""

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
    """Return bars with the time left, which only a terminal shows."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, disable=not console.is_terminal)


def teller(shown: Progress) -> Callable[[str, int, int], None]:
    """Return what is told of each thing done, `(name, done, total)`, and draws a bar for each name."""
    tasks: dict[str, Any] = {}

    def tell(name: str, done: int, total: int) -> None:
        if name not in tasks:
            tasks[name] = shown.add_task(name, total=total)
        shown.update(tasks[name], completed=done)

    return tell


def positive(text: str) -> int:
    """Read a whole number from 1 on."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


@contextmanager
def refusals(stderr: OutputWrapper) -> Iterator[None]:
    """Say every fault of what was asked for, a line each, and exit with 2; with 1 where something is not there."""
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
