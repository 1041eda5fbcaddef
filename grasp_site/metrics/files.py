"""Counted values of several processes in one folder, with prometheus_client's files in shared memory.

Every process of a machine writes a file of its own, and whoever is asked adds all of them up. Only where somebody may
read the metrics are there files; elsewhere the values stay in the process and nobody sees them.
"""

from __future__ import annotations

import fcntl
import os
import re
import socket
from pathlib import Path

import structlog
from django.conf import settings
from prometheus_client import values
from prometheus_client.mmap_dict import MmapedDict

FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that prometheus_client reads, when it opens a file."""
ENDED = "ended"
_NAME = re.compile(r"(?P<kind>counter|histogram)_(?P<process>\d+)\.db")

log = structlog.get_logger(__name__)


def folder() -> Path:
    """Return the folder of this machine below GRASP_HOME; containers that share a home have one each."""
    return Path(settings.GRASP_HOME) / "metrics" / re.sub(r"[^\w.-]", "_", socket.gethostname())


def wanted() -> bool:
    """Return whether somebody may read the metrics."""
    return bool(settings.GRASP_METRICS_TOKEN or settings.GRASP_METRICS_NETWORKS)


def share_values() -> bool:
    """Let this process and those that it forks write files, if somebody may read them; return whether they do.

    It must be called before the first metric is made. A folder that cannot be written is logged, and the values then
    stay in the process: nothing else depends on them.
    """
    if not wanted():
        return False
    try:
        folder().mkdir(parents=True, exist_ok=True)
        add_up_ended(folder())
    except OSError as error:
        log.warning("metrics are not shared", folder=str(folder()), reason=str(error))
        return False
    os.environ[FOLDER_VARIABLE] = str(folder())
    values.ValueClass = values.MultiProcessValue()
    return True


def add_up_ended(place: Path) -> None:
    """Move the values of processes that have ended into one file a kind, so that files do not become ever more.

    The sums stay the same: a counter that falls would be taken for one that began again.
    """
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for path in sorted(place.glob("*.db")):
            named = _NAME.fullmatch(path.name)
            if named is None or Path(f"/proc/{named['process']}").exists():
                continue
            sums = MmapedDict(str(place / f"{named['kind']}_{ENDED}.db"))
            for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path)):
                sums.write_value(key, sums.read_value(key)[0] + value, 0.0)
            sums.close()
            path.unlink()
