"""look: what is in files from outside, read by a process of its own that may take little memory and little time.

Web processes call this, and never read such a file themselves. The bounds are in `looking`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from search.domain.errors import Fault, InvalidRequest
from search.ingest.detect import MOST_FILES
from search.services.imports.looking import OUT_OF_MEMORY, OUT_OF_TIME, SECONDS

AT_ONCE = 2
"""Processes that look at files at the same time; others wait for their turn."""
KEPT = 16
"""Answers that are kept, because the steps of an import look at the same files again and again."""
ROOT = Path(__file__).resolve().parents[3]
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "TZDIR")
"""Variables of the environment that the process gets: none that holds a password."""

_turns = threading.BoundedSemaphore(AT_ONCE)
_kept: OrderedDict[bytes, dict[str, Any]] = OrderedDict()
_keeping = threading.Lock()


class LookRefused(Exception):
    """The files hit a bound; the text is a sentence for people that says which."""


def look(what: str, folder: Path, **arguments: Any) -> dict[str, Any]:
    """Return what `looking.WHAT[what]` says of a folder; the same answer again while its files do not change.

    Raises LookRefused if the files hit a bound, and InvalidRequest for a faulty mapping.
    """
    request = {"what": what, "folder": str(folder), "arguments": arguments}
    key = orjson.dumps([request, _stamps(folder)], option=orjson.OPT_SORT_KEYS)
    with _keeping:
        answer = _kept.get(key)
    if answer is None:
        answer = _asked(request)
        if "refused" in answer:
            # Not kept: it may have been the machine that was busy.
            raise LookRefused(answer["refused"])
        with _keeping:
            _kept[key] = answer
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
    if "faults" in answer:
        raise InvalidRequest([Fault(*fault) for fault in answer["faults"]])
    # A copy of its own for each caller, who may change it.
    found: dict[str, Any] = orjson.loads(orjson.dumps(answer["found"]))
    return found


def _asked(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a new process."""
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ} | {
        "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2",
        "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    with _turns:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "search.services.imports.looking"], input=orjson.dumps(request),
                capture_output=True, env=environment, cwd=ROOT, timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"refused": OUT_OF_TIME}
    if done.returncode == -signal.SIGXCPU:
        return {"refused": OUT_OF_TIME}
    if done.returncode < 0:
        # A library that gets no memory may end its process, and so may the system.
        return {"refused": f"{OUT_OF_MEMORY} (The process ended by signal {-done.returncode}.)"}
    if done.returncode:
        raise RuntimeError(f"The process that looks at files failed: {done.stderr.decode(errors='replace')[-4000:]}")
    answer: dict[str, Any] = orjson.loads(done.stdout)
    return answer


def _stamps(folder: Path) -> list[tuple[str, int, int]]:
    """Return path, size and time of the last change of the files; they tell whether a folder has changed."""
    paths = (Path(parent, name) for parent, _, names in os.walk(folder) for name in names)
    found = [(str(path), path.lstat()) for path in islice(paths, MOST_FILES + 1)]
    return sorted((path, status.st_size, status.st_mtime_ns) for path, status in found)
