"""How often the true time left lies in the range that is shown, over recorded jobs.

Without arguments the recorded jobs of the tests are replayed. `python -m benchmarks progress FILE` records new ones on
this machine, a line each: imports, indexings, evaluations and trainings of four sizes, over generated bundles and the
demo base of papers. They are jobs as any other, so take a home of your own for them (`GRASP_HOME`).
"""

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from django.conf import settings

from benchmarks.common import show, table
from search.management.commands.load_demo import FOLDER
from search.services.jobs.kinds import parts_of
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from tests.search.domain.replayed import RECORDED, Replayed, recorded, replay

SPACING = 0.25
"""Least seconds between two recorded reports of a part."""
NODES = (100, 250, 600, 1500)
QUESTIONS = (15, 40, 100, 250)
LEARNED = (60, 120, 180, 240)
RELATIONS = {("person", "work"): "wrote", ("person", "place"): "lives in", ("work", "place"): "is set in"}
TYPES = ("person", "place", "work")


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table of the recorded jobs; of those that are recorded now if a file is named."""
    file = Path(arguments[0]) if arguments else RECORDED
    if arguments:
        _record(file)
    replayed = list(replay(recorded(file)))
    rows = [_row(f"{one.kind}, {one.size}", [one], one.seconds) for one in replayed]
    rows.append(_row("all", replayed, sum(one.seconds for one in replayed)))
    columns = ("job", "seconds", "shown %", "true %", "range, first third", "range, then")
    table(
        "Readings that show a range, and those of them that hold the truth; range: high end for each low one",
        columns,
        rows,
    )


def _row(name: str, jobs: list[Replayed], seconds: float) -> tuple[str | float, ...]:
    readings, shown = sum(len(job.readings) for job in jobs), sum(job.shown for job in jobs)
    widths = [[width for job in jobs for width in job.widths(late=late)] for late in (False, True)]
    held = sum(job.held for job in jobs)
    return (
        name,
        seconds,
        100 * shown / readings,
        100 * held / max(1, shown),
        *(f"{median(found):.1f}" if found else "–" for found in widths),
    )


def _record(file: Path) -> None:
    """Do the jobs, and append a line for each to the file."""
    with tempfile.TemporaryDirectory() as folder:
        settings.GRASP_IMPORT_ROOTS = [folder, str(FOLDER)]
        for kind, size, asked in _jobs(Path(folder)):
            line = _recorded(kind, size, asked)
            with file.open("a") as lines:
                lines.write(json.dumps(line, separators=(",", ":")) + "\n")
            show(f"{kind}, {size}: {line['seconds']:.0f} s, for a size of {sum(line['parts'].values()):.0f} s")


def _jobs(folder: Path) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield (kind, size, specification) of each job to record; what they need is made before."""
    base = {"knowledge_base": "papers"}
    _do({"kind": "import", "arguments": {"source": str(FOLDER / "papers"), "name": "papers"}})
    made = {"number": max(QUESTIONS), "set_name": "made"}
    _do({"kind": "synthesise", "arguments": made, **base})
    asked = {**base, "question_set": "made"}
    for nodes, questions, learned in zip(NODES, QUESTIONS, LEARNED, strict=True):
        mark = f"{nodes}-{time.time():.0f}"
        source = _bundle(folder / f"imported-{mark}", nodes)
        yield "import", f"{nodes} nodes", {"arguments": {"source": str(source), "name": source.name}}
        source = _bundle(folder / f"indexed-{mark}", nodes)
        _do({"kind": "import", "arguments": {"source": str(source), "name": source.name, "index": False}})
        yield "index", f"{nodes} nodes", {"knowledge_base": source.name}
        arguments: dict[str, Any] = {"pipelines": ["grasp"], "limit": questions, "seed": time.time_ns() % 2**31}
        yield "evaluate", f"{questions} questions", {**asked, "arguments": arguments}
        yield "train_planner", f"{learned} questions", {**asked, "arguments": {"limit": learned}}


def _do(asked: Mapping[str, Any], progress: Any = lambda *_: None) -> dict[str, float]:
    """Do a job in this process; return its parts with their sizes."""
    job, _ = launch_job(here=True, **asked)
    run_here(job, progress)
    return parts_of(job)


def _recorded(kind: str, size: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    names: dict[str, int] = {}
    reports: list[tuple[float, int, int, int | None]] = []
    began = time.monotonic()

    def progress(part: str, done: int, total: int | None) -> None:
        at, number = round(time.monotonic() - began, 2), names.setdefault(part, len(names))
        before = reports[-1] if reports and reports[-1][1] == number and reports[-1][2] <= done else None
        if before is None or at - before[0] >= SPACING or (done == total and before[2] < done):
            reports.append((at, number, int(done), total))

    parts = _do({"kind": kind, **asked}, progress)
    return {
        "kind": kind, "size": size, "seconds": round(time.monotonic() - began, 2), "names": list(names),
        "parts": {name: float(f"{seconds:.4g}") for name, seconds in parts.items()}, "reports": reports,
    }  # fmt: skip


def _bundle(folder: Path, nodes: int) -> Path:
    """Write a bundle of texts that no other one has; return its folder."""
    draw = random.Random(os.urandom(8))
    words = sorted({word for word in (FOLDER / "papers" / "nodes.jsonl").read_text().split() if word.isalpha()})

    def text(least: int, most: int) -> str:
        return " ".join(draw.choice(words) for _ in range(draw.randint(least, most)))

    folder.mkdir()
    (folder / "kb.json").write_text(json.dumps({"name": folder.name, "node_types": {name: {} for name in TYPES}}))
    with (folder / "nodes.jsonl").open("w") as file:
        for i in range(nodes):
            fields = {"about": text(5, 40), "year": 1900 + i % 120}
            file.write(json.dumps({"id": f"{i}", "type": TYPES[i % 3], "name": text(3, 3), "fields": fields}) + "\n")
    with (folder / "edges.tsv").open("w") as file:
        file.write("source\trelation\ttarget\n")
        for _ in range(4 * nodes):
            i, j = draw.randrange(nodes), draw.randrange(nodes)
            if relation := RELATIONS.get((TYPES[i % 3], TYPES[j % 3])):
                file.write(f"{i}\t{relation}\t{j}\n")
    return folder
