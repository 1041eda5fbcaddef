"""The device that a training runs on, and the optimizer that stays on it."""

from __future__ import annotations

from typing import Any

import torch
from django.conf import settings

from search.domain.errors import StageError
from search.neural.devices import chosen_device, kind_of


def training_device(wanted: str, stage: str) -> str:
    """Return the device of a training whose setting `device` is auto, cpu or cuda.

    `auto` is the site's device (GRASP_DEVICE), as for searches. Raises StageError if a GPU is wanted that this machine
    or this site does not have.
    """
    site = settings.GRASP_DEVICE
    if wanted == "cuda" and site != "auto" and kind_of(site) != "cuda":
        reason = f"this site computes on {site} (GRASP_DEVICE), so it trains on no GPU; set device=auto or cpu"
        raise StageError(stage, reason, permanent=True)
    # A site that says which GPU it takes means it for trainings, too.
    device = chosen_device(site if wanted == "auto" or (wanted == "cuda" and site != "auto") else wanted)
    if kind_of(device) == "cuda" and not torch.cuda.is_available():
        said = "set device=cpu" if wanted == "auto" else "set device=auto or cpu"
        raise StageError(stage, f"there is no GPU on this machine; {said}", permanent=True)
    return device


def adam_w(groups: list[dict[str, Any]], **options: float) -> torch.optim.AdamW:
    """Return torch's AdamW of the groups of parameters, with its options, that opens no GPU for parameters of the CPU.

    Before each step, torch asks the present GPU whether a CUDA graph is being recorded, which opens the GPU of every
    machine that has one.
    """
    optimizer = torch.optim.AdamW(groups, **options)  # type: ignore[arg-type]
    if not any(parameter.is_cuda for group in optimizer.param_groups for parameter in group["params"]):
        optimizer._accelerator_graph_capture_health_check = lambda: None  # type: ignore[method-assign]
    return optimizer
