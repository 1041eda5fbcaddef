"""Shared by the scripts: Django with its services, the data, and tables."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django
import numpy as np
from rich.console import Console
from rich.table import Table

from grasp_site.embedded.commands import services_for

PROJECT = Path(__file__).resolve().parents[1]
DATA = PROJECT.parent / "shared" / "data"
HOME = PROJECT / ".grasp-bench"


@contextmanager
def site() -> Iterator[None]:
    """Set Django up with its services, over the home `.grasp-bench` unless `GRASP_HOME` names another one."""
    os.environ.setdefault("GRASP_HOME", str(HOME))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    with services_for(["bench"]):
        django.setup()
        yield


def data(name: str) -> Path:
    """Return the folder of a knowledge base's bundle; NotHere if it is missing."""
    folder = DATA / name
    if not folder.is_dir():
        raise NotHere(f"needs ../shared/data/{name} beside the repository")
    return folder


class NotHere(Exception):
    """The data for a measurement are not on this machine."""


def show(line: str) -> None:
    """Print a line."""
    Console(width=120).print(line, highlight=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table with a description of the machine below it."""
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    drawn = Table(*columns, title=title, caption=machine, title_justify="left", caption_justify="left")
    for row in rows:
        drawn.add_row(*(f"{cell:,.1f}" if isinstance(cell, float) else str(cell) for cell in row))
    Console(width=120).print(drawn)


def percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    """Return p50 and p95 of durations, in milliseconds."""
    low, high = np.percentile(np.array(seconds) * 1000, [50, 95])
    return float(low), float(high)
