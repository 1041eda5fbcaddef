"""Whether this machine has the disk space and the memory that a job needs."""

from __future__ import annotations

import shutil
from pathlib import Path

from django.conf import settings

from search.domain.errors import Fault
from search.domain.job_kinds import Needs

CONTROL_GROUP = Path("/sys/fs/cgroup")
SPARE_DISK = 512 * 1024**2
"""Bytes that a job leaves free on the disk, for Postgres and the logs."""


def shortages(needs: Needs) -> list[Fault]:
    """Return a fault with the figures for the disk and for the memory, if there is less than the job needs."""
    faults = []
    free = shutil.disk_usage(_existing(Path(needs.folder or settings.GRASP_HOME))).free
    if needs.disk and needs.disk + SPARE_DISK > free:
        faults.append(Fault("", f"The job needs about {_size(needs.disk)} of disk and {_size(SPARE_DISK)} to spare; "
                                f"{_size(free)} are free below {needs.folder or 'GRASP_HOME'}."))  # fmt: skip
    available = available_memory()
    if needs.memory and available is not None and needs.memory > available:
        faults.append(Fault("", f"The job needs about {_size(needs.memory)} of memory; {_size(available)} are "
                                f"available on this machine."))  # fmt: skip
    return faults


def available_memory() -> int | None:
    """Return the bytes that a new process could use without swapping, or None where the system does not tell.

    In a container it is what the container's limit leaves, if that is less.
    """
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    return min(found + _left_in_group(CONTROL_GROUP), default=None)


def _left_in_group(folder: Path) -> list[int]:
    """Return what the memory limit of the control group (version 2) leaves; empty if there is no limit."""
    try:
        most = (folder / "memory.max").read_text(encoding="ascii").strip()
        used = int((folder / "memory.current").read_text(encoding="ascii"))
        statistics = (folder / "memory.stat").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
    if not most.isdecimal():
        return []
    # The cache of files is given back when memory is needed.
    cached = sum(int(line.split()[1]) for line in statistics if line.startswith(("active_file ", "inactive_file ")))
    return [max(0, int(most) - used + cached)]


def _existing(folder: Path) -> Path:
    return folder if folder.is_dir() else folder.parent


def _size(number: int) -> str:
    return f"{number / 1024**3:,.1f} GB" if number >= 1024**3 else f"{number / 1024**2:,.0f} MB"
