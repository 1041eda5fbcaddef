"""What a job's process uses: memory, processor time, and its machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_TICKS = os.sysconf("SC_CLK_TCK")


class Resources:
    """Measures one process. `former` is what earlier attempts of the same job used."""

    def __init__(self, process: int, former: dict[str, Any] | None = None) -> None:
        self._process = process
        self._peak = float((former or {}).get("memory_peak_mb", 0.0))
        self._spent = float((former or {}).get("processor_seconds", 0.0))
        self._last: dict[str, Any] = dict(former or {})

    def measured(self) -> dict[str, Any]:
        """Return `memory_mb`, `memory_peak_mb` and `processor_seconds`; the last known ones if the process is gone."""
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
        }
        return self._last
