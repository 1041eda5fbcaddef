"""Backup and restore of a site with movies: seconds and bytes, and 300 questions before and after, to the byte.

The restore goes into an empty home beside this one. The questions are asked in processes of their own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.bases import imported
from benchmarks.common import PROJECT, data, show, table
from search.models import SearchRun
from search.services.backup.errors import size
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from training.data.examples import read_examples

QUESTIONS = 300
ASK = "--ask"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the seconds of backup, check and restore, and whether all rankings are the same.

    With `--ask NAME FILE` only ask the questions of this home, and write their rankings' hashes into a file.
    """
    if arguments:
        _ask(arguments[1], Path(arguments[2]))
        return
    name, _ = imported("movies")
    here = Path(os.environ["GRASP_HOME"]).resolve()
    # Not in the folder for temporary files: as root, Postgres runs as another user, who must be able to enter.
    work = Path(tempfile.mkdtemp(prefix="grasp-backup-", dir=here.parent))
    work.chmod(0o755)
    try:
        before = _asked(here, name, work / "before.json")
        file = work / "site.grasp"
        taken = {"backup": _manage(here, "backup", str(file))}
        taken["check"] = _manage(here, "restore", str(file), "--check")
        taken["restore into an empty home"] = _manage(work / "home", "restore", str(file))
        after = _asked(work / "home", name, work / "after.json")
        rows = [
            (what, one.seconds, one.seconds / taken["backup"].seconds, one.megabytes) for what, one in taken.items()
        ]
        title = f"The whole site, {size(file.stat().st_size)} packed"
        table(title, ("command", "s", "× backup", "its largest memory, MB"), rows)
        show(f"The restore took {rows[-1][2]:.2f} times as long as the backup; the target is 2.")
        same = sum(one == two for one, two in zip(before, after, strict=True))
        show(f"{same} of {len(before)} questions have the same ranking to the byte.")
    finally:
        shutil.rmtree(work)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a command took: seconds from the start of its process to its end, and its largest resident memory."""

    seconds: float
    megabytes: float


def _manage(home: Path, *arguments: str) -> Taken:
    """Run a command over a home, and return what it took. Raises RuntimeError if it fails."""
    began = time.perf_counter()
    command = [sys.executable, "manage.py", *arguments]
    process = subprocess.Popen(command, cwd=PROJECT, env={**os.environ, "GRASP_HOME": str(home)})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {process.returncode}")
    # Linux says kilobytes.
    return Taken(time.perf_counter() - began, used.ru_maxrss / 1000)


def _asked(home: Path, name: str, output: Path) -> list[str]:
    command = [sys.executable, "-m", "benchmarks", "backup", ASK, name, str(output)]
    subprocess.run(command, cwd=PROJECT, env={**os.environ, "GRASP_HOME": str(home)}, check=True)
    found: list[str] = json.loads(output.read_bytes())
    return found


def _ask(name: str, output: Path) -> None:
    """Ask the questions, and write the hash of each ranking with its scores as the run keeps it."""
    examples = read_examples(data("movies") / "questions.jsonl.gz", "val")
    spread = examples[:: max(1, len(examples) // QUESTIONS)][:QUESTIONS]
    found = []
    for example in spread:
        run = request_search(
            knowledge_base=name, question=example.text, origin=SearchRun.Origin.EVALUATION, enqueue=False
        )  # fmt: skip
        answer = run_search(run.pk).answer
        ranking = json.dumps((answer or {})["ranking"], sort_keys=True).encode()
        found.append(hashlib.sha256(ranking).hexdigest())
    output.write_text(json.dumps(found))
