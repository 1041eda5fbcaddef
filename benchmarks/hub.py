"""How fast the page of a hub opens, its last page of neighbours, what is like it, and the paths over it.

A hub with 500,000 neighbours is written as a bundle and imported by `import_kb`. The pages are asked for in this
process by Django's client: all of the site's work, without the network.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.common import PROJECT, percentiles, show, site, table

NAME = "bench-hub"
EDGES = int(os.environ.get("BENCH_EDGES", "500000"))
FEW = 1_000
"""Nodes that a second hub is connected with, and the first is too."""
TIMES = 20
PAGES = (
    ("the hub's page", "nodes/hub/"),
    ("its page 5,000", "nodes/hub/?relation=MADE_BY&direction=in&page=5000"),
    ("its last page", "nodes/hub/?relation=MADE_BY&direction=in&page=999999"),
    ("a leaf's page", "nodes/work:0000000/"),
    ("what is like the hub", "alike/?id=hub"),
    ("what is like a leaf", "alike/?id=work:0000000"),
    ("paths hub – leaf", "paths/?from=hub&to=work:0000000"),
    ("paths leaf – hub – leaf", "paths/?from=work:0499999&to=work:0000007"),
    ("paths hub – 1,000 – other hub", "paths/?from=hub&to=other"),
    ("its group opened", "paths/?from=hub&to=other&open=1.work"),
)


def main() -> None:
    """Import the hub unless it is there, and print the table of durations."""
    # Imported here because models can be imported only after Django is set up.
    from django.test import Client

    from search.models import KnowledgeBase

    if not KnowledgeBase.objects.filter(name=NAME, active_release__isnull=False).exists():
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            command = [sys.executable, "manage.py", "import_kb", str(generate(Path(folder))), "--no-vectors", "--json"]
            subprocess.run(command, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
            show(f"imported in {time.perf_counter() - began:.0f} s")
    rows = []
    for label, address in PAGES:
        seconds = []
        for _ in range(TIMES + 1):
            began = time.perf_counter()
            answer = Client(SERVER_NAME="localhost").get(f"/kb/{NAME}/{address}")
            seconds.append(time.perf_counter() - began)
            if answer.status_code != 200:
                raise RuntimeError(f"{address} answers {answer.status_code}")
        rows.append((label, seconds[0] * 1000, *percentiles(seconds[1:]), len(answer.content) / 1024))
    table(f"Pages of a hub with {EDGES:,} edges", ("page", "first ms", "p50 ms", "p95 ms", "KiB"), rows)


def generate(folder: Path) -> Path:
    """Write the bundle: a hub that `EDGES` works point to, and another that the first `FEW` point to."""
    described = {"name": NAME, "node_types": {"maker": {}, "work": {}}}
    (folder / "kb.json").write_text(json.dumps(described))
    with (folder / "nodes.jsonl").open("w") as file:
        for node_id, kind, name in (("hub", "maker", "The hub"), ("other", "maker", "The other hub")):
            file.write(json.dumps({"id": node_id, "type": kind, "name": name, "fields": {}}) + "\n")
        for at in range(EDGES):
            node = {"id": f"work:{at:07}", "type": "work", "name": f"Work {at}", "fields": {}}
            file.write(json.dumps(node) + "\n")
    with (folder / "edges.tsv").open("w") as file:
        file.write("source\trelation\ttarget\n")
        for at in range(EDGES):
            file.write(f"work:{at:07}\tMADE_BY\thub\n")
            if at < FEW:
                file.write(f"work:{at:07}\tLENT_TO\tother\n")
    return folder


if __name__ == "__main__":
    with site():
        main()
