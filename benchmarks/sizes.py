"""What importing and each part of the indexes take at several sizes of a synthetic graph, and how they grow.

The import and each part run in a process of their own, over the benchmarks' Postgres. The processor time is that of the
work in this process, without its start; Postgres' own is not in it. Vectors are not made.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.common import PROJECT, show, site, table
from benchmarks.synthetic import SIZES, generate

READ = "documents, only read"
"""Not a part: the reading of all nodes with their neighbours' names, which BM25 and the vectors do."""
IMPORT = "check and load"
FIRST = ("nodes", "adjacency", "mentions")
"""Parts that other parts read."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time in seconds, peak memory of the process in megabytes, and megabytes of the files."""

    seconds: float
    memory: float
    disk: float


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table for the sizes asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks sizes", description=__doc__)
    parser.add_argument("--sizes", default="3k,30k", help=f"of {', '.join(SIZES)}, separated by commas")
    parser.add_argument("--parts", default="", help="only these parts of the indexes, and those that they read first")
    parser.add_argument("--keep", action="store_true", help="keep the bases, and do not import them again")
    asked = parser.parse_args(list(arguments))
    sizes = asked.sizes.split(",")
    if unknown := [size for size in sizes if size not in SIZES]:
        parser.error(f"there is no size {', '.join(unknown)}; there are {', '.join(SIZES)}")
    costs = {size: _measured(size, [part for part in asked.parts.split(",") if part], asked.keep) for size in sizes}
    columns = ["part", *(f"{size}: {what}" for size in sizes for what in ("CPU s", "peak MB", "disk MB"))]
    columns += [f"× a tenfold, {one} → {other}" for one, other in pairwise(sizes)]
    names = dict.fromkeys(name for of_size in costs.values() for name in of_size)
    table("Growth", columns, [_row(name, sizes, costs) for name in names])


def _row(name: str, sizes: Sequence[str], costs: dict[str, dict[str, Cost]]) -> list[str]:
    row = [name]
    for size in sizes:
        cost = costs[size].get(name)
        row += [f"{cost.seconds:,.1f}", f"{cost.memory:,.0f}", f"{cost.disk:,.1f}"] if cost else [""] * 3
    for one, other in pairwise(sizes):
        small, large = costs[one].get(name), costs[other].get(name)
        if small is None or large is None:
            row.append("")
            continue
        tenfolds = math.log10(SIZES[other][1] / SIZES[one][1])
        row.append(f"{(large.seconds / small.seconds) ** (1 / tenfolds):.1f}")
    return row


def _measured(size: str, parts: Sequence[str], keep: bool) -> dict[str, Cost]:
    """Import a size unless it is there, build each part, and return name → cost."""
    # Imported here because models can be imported only after Django is set up.
    from search.ingest.cleanup import remove_dead
    from search.models import KnowledgeBase, Snapshot
    from search.models.knowledge import BuildStatus
    from search.services.jobs.run_context import plain_run
    from search.services.knowledge.index_snapshot import part_writers

    name, found = f"sizes-{size}", dict[str, Cost]()
    there = Snapshot.objects.filter(knowledge_base__name=name, status=BuildStatus.READY)
    if not there.exists():
        found[IMPORT] = _cost(IMPORT, size)
    snapshot = there.latest("pk")
    show(f"{size}: {snapshot.nodes:,} nodes, {snapshot.edges:,} edges")
    names = list(part_writers(snapshot, plain_run()))
    names.insert(names.index("bm25"), READ)
    for part in names:
        folder = snapshot.directory / part
        if parts and part not in parts and (part not in FIRST or folder.is_dir()):
            continue
        shutil.rmtree(folder, ignore_errors=True)
        cost = found[part] = _cost(part, str(snapshot.pk), folder)
        show(f"  {part}: {cost.seconds:,.1f} s, {cost.memory:,.0f} MB, {cost.disk:,.1f} MB on disk", markup=False)
    if not keep:
        KnowledgeBase.objects.filter(name=name).delete()
        remove_dead()
    return found


def _cost(part: str, given: str, folder: Path | None = None) -> Cost:
    """Do a part in a process of its own; return what it took, and the size of `folder` then."""
    command = [sys.executable, "-m", "benchmarks.sizes", part, given]
    told = subprocess.run(command, cwd=PROJECT, stdout=subprocess.PIPE, check=True).stdout
    seconds, memory = json.loads(told.splitlines()[-1])
    files = folder.rglob("*") if folder is not None else ()
    return Cost(seconds, memory, sum(path.stat().st_size for path in files if path.is_file()) / 1e6)


def _work(part: str, given: str) -> None:
    """Do the work that is measured: import a size, or build one part of the index files of the snapshot `given`."""
    from search.ingest.index import build_parts
    from search.models import Snapshot
    from search.services.jobs.run_context import plain_run
    from search.services.knowledge.import_snapshot import import_snapshot
    from search.services.knowledge.index_snapshot import nodes_with_neighbours, part_writers

    if part == IMPORT:
        # Not in the folder for temporary files, which may be memory.
        with tempfile.TemporaryDirectory(dir=os.environ["GRASP_HOME"]) as folder:
            generate(Path(folder), *SIZES[given])
            _timed(lambda: import_snapshot(source=Path(folder), name=f"sizes-{given}", index=False))
        return
    snapshot, run = Snapshot.objects.get(pk=given), plain_run()
    if part == READ:
        _timed(lambda: [None for _ in nodes_with_neighbours(snapshot, snapshot.schema)])
    else:
        _timed(lambda: build_parts(snapshot.directory, {part: part_writers(snapshot, run)[part]}, run))


def _timed(work: Callable[[], object]) -> None:
    """Do the work; print seconds of processor time, and the process' largest memory in megabytes meanwhile."""
    Path("/proc/self/clear_refs").write_text("5")
    began = time.process_time()
    work()
    seconds = time.process_time() - began
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    print(json.dumps([seconds, int(peak[1]) / 1024 if peak else 0.0]))


if __name__ == "__main__":
    with site():
        _work(*sys.argv[1:])
