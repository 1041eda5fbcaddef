"""Time and memory for checking and loading a bundle, without vectors.

Each import runs in a separate process (`import_kb --no-index`), so that its memory can be measured; its data are
dropped afterwards. The generated graph shows the cost of many edges.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import PROJECT, NotHere, data, show, site, table

BUNDLES = ("movies", "ottqa")
NODES, EDGES = 200_000, 4_000_000
NAME = "bench-import"


def main() -> None:
    """Import each bundle and print the table."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for label, source in _sources(Path(folder)):
            report, cpu, megabytes = _import(source)
            seconds = report["seconds"]
            rows.append(
                (label, f"{report['nodes']:,}", f"{report['edges']:,}", report["bad_rows"])
                + (seconds["check"], seconds["load"], seconds["total"], cpu, f"{megabytes:,.0f}")
            )
    columns = ("bundle", "nodes", "edges", "bad rows", "check s", "load s", "total s", "own CPU s", "peak MiB")
    table("Import without vectors", columns, rows)


def _sources(folder: Path) -> Iterator[tuple[str, Path]]:
    for name in BUNDLES:
        try:
            yield name, data(name)
        except NotHere as reason:
            show(f"{name}: {reason}; not measured.")
    yield "generated", generate(folder, NODES, EDGES)


def generate(folder: Path, nodes: int, edges: int) -> Path:
    """Write a bundle with many more edges than nodes, and short texts; return its folder."""
    draw = random.Random(7)
    types = ("person", "place", "work")
    (folder / "kb.json").write_text(json.dumps({"name": NAME, "node_types": {name: {} for name in types}}))
    with (folder / "nodes.jsonl").open("w") as file:
        for i in range(nodes):
            node = {"id": f"node:{i}", "type": types[i % 3], "name": f"Node {i}", "fields": {"year": 1900 + i % 120}}
            file.write(json.dumps(node) + "\n")
    with (folder / "edges.tsv").open("w") as file:
        file.write("source\trelation\ttarget\n")
        for _ in range(edges):
            source, target = int(nodes * draw.random() ** 2), int(nodes * draw.random())
            file.write(f"node:{source}\tRELATION_{draw.randrange(12)}\tnode:{target}\n")
    return folder


def _import(source: Path) -> tuple[dict[str, Any], float, float]:
    """Return the import's report, its processor time in seconds, and its peak memory in MiB."""
    command = [sys.executable, "manage.py", "import_kb", str(source), "--name", NAME, "--no-index", "--json"]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE)
    if process.stdout is None:
        raise RuntimeError("the import has no output")
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    report = json.loads(output)
    _forget()
    return report, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _forget() -> None:
    # Imported here because models can be imported only after Django is set up.
    from search.ingest.cleanup import remove_dead
    from search.models import KnowledgeBase

    KnowledgeBase.objects.filter(name=NAME).delete()
    remove_dead()


if __name__ == "__main__":
    with site():
        main()
