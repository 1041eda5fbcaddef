"""What a job's process uses: memory, processor time, what it writes to the disk, and memory of a GPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")


class Resources:
    """Measures one process.

    `former` is what earlier attempts of the same job used. `gpu_bytes` returns the most GPU memory that the process has
    held; only the process itself knows it.
    """

    def __init__(
        self, process: int, former: dict[str, Any] | None = None, gpu_bytes: Callable[[], int] = lambda: 0
    ) -> None:
        self._gpu_bytes = gpu_bytes
        self._process = process
        self._peak = float((former or {}).get("memory_peak_mb", 0.0))
        self._spent = float((former or {}).get("processor_seconds", 0.0))
        self._written = float((former or {}).get("written_mb", 0.0))
        self._gpu = float((former or {}).get("gpu_memory_peak_mb", 0.0))
        self._last: dict[str, Any] = dict(former or {})

    def measured(self) -> dict[str, Any]:
        """Return what was used so far, or what was last known if the process is gone.

        `memory_mb`, `memory_peak_mb`, `processor_seconds` and `written_mb` are of the process alone, without Postgres.
        `gpu_memory_peak_mb` is there if the work has used a GPU.
        """
        folder = Path("/proc") / str(self._process)
        try:
            status = (folder / "status").read_text(encoding="ascii", errors="replace")
            times = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            return self._last
        sizes = {line.split(":")[0]: int(line.split()[1]) for line in status.splitlines() if line.startswith("Vm")}
        if "VmHWM" not in sizes:
            return self._last
        self._peak = max(self._peak, sizes["VmHWM"] / 1024)
        processor = self._spent + (int(times[11]) + int(times[12])) / _TICKS
        self._last = {
            "memory_mb": round(sizes["VmRSS"] / 1024, 1),
            "memory_peak_mb": round(self._peak, 1),
            "processor_seconds": round(processor, 2),
            "written_mb": round(self._written + _bytes_written(folder) / 1024**2, 1),
        }
        self._gpu = max(self._gpu, self._gpu_bytes() / 1024**2)
        if self._gpu:
            self._last["gpu_memory_peak_mb"] = round(self._gpu, 1)
        return self._last


def _bytes_written(folder: Path) -> int:
    """Return the bytes that a process has had written to the disk; 0 where the system does not tell."""
    try:
        lines = (folder / "io").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("write_bytes:")), 0)


def gpu_memory_held() -> int:
    """Return the most bytes of GPU memory that this process has held; 0 if it has not loaded torch or has no GPU."""
    # While another thread imports torch, the module is there, but not yet all that it has.
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    initialized = getattr(cuda, "is_initialized", None)
    if cuda is None or initialized is None or not initialized():
        return 0
    return int(cuda.max_memory_reserved())
