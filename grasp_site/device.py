"""The device that this machine's models run on, told without loading a library for it."""

import os
from pathlib import Path

from grasp_site.environment import env_str

_DRIVER = Path("/proc/driver/nvidia/gpus")


def gpus() -> int:
    """Return the number of NVIDIA GPUs that jobs may use."""
    if env_str("GRASP_DEVICE", "auto") == "cpu":
        return 0
    return sum(path.name.removeprefix("nvidia").isdecimal() for path in Path("/dev").glob("nvidia*"))


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
