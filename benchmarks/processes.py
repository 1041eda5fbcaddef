"""Start time and memory of `make run`: seconds to `Ready`, and memory of its processes after searches."""

from __future__ import annotations

import json
import urllib.request

import psutil

from benchmarks.bases import imported
from benchmarks.common import running, table
from training.data.examples import read_examples

SEARCHES = 100
SHOWN = {"uvicorn": "web", "search_worker": "search worker", "postgres": "Postgres", "valkey-server": "Valkey"}
"""Part of a process's command → its name in the table."""


def main() -> None:
    """Print the seconds to `Ready` of a second start, and each process's memory before and after searches."""
    _, folder = imported("movies")
    questions = [example.text for example in read_examples(folder / "questions.jsonl.gz", "val", SEARCHES)]
    with running() as (address, seconds, supervisor):
        idle = _memory(supervisor)
        for question in questions:
            _ask(address, question)
        rows = [(name, idle.get(name, 0.0), megabytes) for name, megabytes in _memory(supervisor).items()]
    table("make run, second start", ("", "s"), [("seconds to Ready", seconds)])
    table(f"Resident memory, MB, before and after {SEARCHES} searches on movies", ("process", "before", "after"), rows)


def _memory(supervisor: psutil.Process) -> dict[str, float]:
    """Return process → megabytes of its unshared memory, summed over processes with the same name."""
    found: dict[str, float] = {}
    for child in psutil.process_iter(["cmdline"]):
        command = " ".join(child.info["cmdline"] or [])
        ours = supervisor.pid in {parent.pid for parent in child.parents()}
        name = next((shown for part, shown in SHOWN.items() if part in command), None)
        if ours and name:
            found[name] = found.get(name, 0.0) + child.memory_full_info().uss / 1e6
    return found


def _ask(address: str, question: str) -> None:
    body = json.dumps({"knowledge_base": "movies", "question": question}).encode()
    request = urllib.request.Request(f"{address}/api/v1/searches/?wait=20", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()
