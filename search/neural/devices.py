"""The device that models run on in this process, and the data type in which they compute there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

_CPU_INFO = Path("/proc/cpuinfo")
_BFLOAT16_FLAGS = {"avx512_bf16", "amx_bf16"}


def chosen_device(device: str) -> str:
    """Return the device for models: `device` itself, or, for `auto`, a GPU if torch can use one, else the CPU."""
    if device != "auto":
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "cpu"


def kind_of(device: str | torch.device) -> str:
    """Return the kind of a device, without the number of the GPU: `cuda` for `cuda:0`."""
    return torch.device(device).type


@contextmanager
def seeded(seed: int, device: str | torch.device = "cpu") -> Iterator[None]:
    """Let a seed decide what torch draws on the CPU and on this device; afterwards torch draws as if nothing was.

    Nothing but this device is asked for its state, so that work on a CPU takes no memory of a GPU.
    """
    with torch.random.fork_rng(devices=[torch.device(device)] if kind_of(device) == "cuda" else []):
        torch.manual_seed(seed)
        yield


def chosen_dtype(dtype: str, device: str) -> torch.dtype:
    """Return the data type for models: `auto` is bfloat16 where the device computes it in hardware, else float32."""
    if dtype != "auto":
        return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[dtype]
    return torch.bfloat16 if computes_bfloat16(device) else torch.float32


def computes_bfloat16(device: str | torch.device) -> bool:
    """Return whether a device (cpu, cuda, cuda:1) computes bfloat16 in hardware."""
    kind = kind_of(device)
    return kind == "cuda" or (kind == "cpu" and has_bfloat16())


def has_bfloat16(cpu_info: Path = _CPU_INFO) -> bool:
    """Return whether the CPU computes bfloat16 in hardware; without that, float32 is faster."""
    if not cpu_info.is_file():
        return False
    flags = next((line for line in cpu_info.read_text().splitlines() if line.startswith("flags")), "")
    return not _BFLOAT16_FLAGS.isdisjoint(flags.split())
