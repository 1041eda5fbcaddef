"""The device that this machine's models run on, told without loading a library for it."""

import os
import re
from pathlib import Path

from grasp_site.environment import env_read

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d{1,3})?")
_NODES = Path("/dev")
_DRIVER = Path("/proc/driver/nvidia/gpus")


def read_device(text: str) -> str:
    """Return the device of a text; an empty one is `auto`. Raises ValueError for anything that is none."""
    word = text.strip().lower() or "auto"
    if not _DEVICE.fullmatch(word):
        raise ValueError(f"{text!r} is no device; it takes auto, cpu, cuda, or one GPU by its number, as cuda:0")
    return word


def gpus() -> int:
    """Return the number of NVIDIA GPUs that jobs may use."""
    allowed = env_read("GRASP_DEVICE", read_device)
    if allowed in ("cpu", "mps"):
        return 0
    there = sum(path.name.removeprefix("nvidia").isdecimal() for path in _NODES.glob("nvidia*"))
    return min(there, 1) if ":" in allowed else there


def device() -> str:
    """Return the device in words: the GPUs with the names that their driver tells, or the number of the CPU's cores."""
    number = gpus()
    if not number:
        cores = len(os.sched_getaffinity(0))
        return f"CPU, {cores} core{'s' if cores > 1 else ''}"
    names = sorted(set(_names())) or ["NVIDIA"]
    return f"{number} × GPU {', '.join(names)}" if number > 1 else f"GPU {names[0]}"


def _names() -> list[str]:
    """Return the models of the GPUs as the driver lists them; none where it lists nothing."""
    found = []
    for information in _DRIVER.glob("*/information"):
        try:
            lines = information.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        found += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    return found
