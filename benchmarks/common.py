"""Shared by the scripts: Django with its services, the data, and tables."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import django
import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from grasp_site.embedded.commands import services_for

PROJECT = Path(__file__).resolve().parents[1]
DATA = PROJECT.parent / "shared" / "data"
HOME = PROJECT / ".grasp-bench"
CHROMIUM = "/usr/bin/chromium"


@contextmanager
def site() -> Iterator[None]:
    """Set Django up with its services, over the home `.grasp-bench` unless `GRASP_HOME` names another one."""
    os.environ.setdefault("GRASP_HOME", str(HOME))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    with services_for(["bench"]):
        django.setup()
        yield


@contextmanager
def running(environment: Mapping[str, str] | None = None) -> Iterator[tuple[str, float, psutil.Process]]:
    """Run the whole site as `make run` does, over this home; yield its address, seconds to `Ready`, its supervisor.

    `environment` is laid over this process' own.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    set_up = {**os.environ, "GRASP_HOME": os.environ.get("GRASP_HOME", str(HOME)), **(environment or {})}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "grasp_site.embedded"],
        cwd=PROJECT, env={**set_up, "PORT": str(port)}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        if not any("Ready: " in line for line in process.stdout):
            raise RuntimeError("make run ended before it was ready")
        yield f"http://127.0.0.1:{port}", time.perf_counter() - began, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def data(name: str) -> Path:
    """Return the folder of a knowledge base's bundle; NotHere if it is missing."""
    folder = DATA / name
    if not folder.is_dir():
        raise NotHere(f"needs ../shared/data/{name} beside the repository")
    return folder


class NotHere(Exception):
    """The data for a measurement are not on this machine."""


def show(line: str, *, markup: bool = True) -> None:
    """Print a line; without `markup`, brackets in it are only brackets."""
    Console(width=120).print(line, highlight=False, markup=markup)


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


def by_size(title: str, first: str, cells: Mapping[str, Mapping[str, tuple[Any, ...]]], last: str) -> None:
    """Print size → row → (p50 and p95 of processor time in ms, one more cell), and how p50 grows with the size."""
    sizes = list(cells)
    columns = [first, *(f"{size}: {what}" for size in sizes for what in ("CPU p50 ms", "p95", last))]
    columns += [f"× {one} → {other}" for one, other in pairwise(sizes)]
    rows = [
        [name, *(cell for size in sizes for cell in cells[size][name]),
         *(cells[other][name][0] / cells[one][name][0] for one, other in pairwise(sizes))]
        for name in cells[sizes[0]]
    ]  # fmt: skip
    table(title, columns, rows)
