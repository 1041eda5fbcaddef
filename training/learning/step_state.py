"""The state of a training as bytes, in the safetensors format: nothing in it can run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from safetensors.torch import load, save
from torch import Tensor

_MOMENTS = ("exp_avg", "exp_avg_sq")
_ABOUT = "about"


@dataclass(frozen=True)
class StepState:
    """How far a fit is: steps done, the loss of each, the checks (step, figure), and the best weights so far.

    `best` is the step of these weights, -1 before the first check.
    """

    step: int
    curve: tuple[float, ...]
    checks: tuple[tuple[int, float], ...]
    best: int
    weights: Mapping[str, Tensor]


def saved(state: StepState, weights: Mapping[str, Tensor], optimizer: torch.optim.Optimizer) -> bytes:
    """Return the state with the present weights and the optimizer's moments."""
    tensors = {f"now.{name}": tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    tensors |= {f"best.{name}": tensor.contiguous() for name, tensor in state.weights.items()}
    for name, parameter in weights.items():
        held = optimizer.state.get(parameter, {})
        tensors |= {f"{moment}.{name}": held[moment].detach().cpu().contiguous() for moment in _MOMENTS if held}
    about = {"step": state.step, "curve": state.curve, "checks": state.checks, "best": state.best}
    written = torch.frombuffer(bytearray(json.dumps(about).encode()), dtype=torch.uint8)
    return save({**tensors, _ABOUT: written})


def restored(
    content: bytes | None, weights: Mapping[str, Tensor], optimizer: torch.optim.Optimizer
) -> StepState | None:
    """Put the weights and moments of a checkpoint into place, and return its state; None if there is none."""
    if content is None:
        return None
    tensors = load(content)
    about = json.loads(bytes(tensors.pop(_ABOUT).numpy()))
    with torch.no_grad():
        for name, parameter in weights.items():
            parameter.copy_(tensors[f"now.{name}"])
            if f"exp_avg.{name}" in tensors:
                held = {moment: tensors[f"{moment}.{name}"].to(parameter.device) for moment in _MOMENTS}
                optimizer.state[parameter] = {"step": torch.tensor(float(about["step"])), **held}
    best = {name.removeprefix("best."): tensor for name, tensor in tensors.items() if name.startswith("best.")}
    checks = tuple((int(step), float(figure)) for step, figure in about["checks"])
    return StepState(about["step"], tuple(about["curve"]), checks, about["best"], best)
