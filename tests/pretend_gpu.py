"""A pretended GPU: tensors that say they are on `cuda:0` and compute on the CPU, with the rules of a real one.

Within `pretended()` torch believes that there is a GPU. Tensors that are moved there refuse what a real GPU refuses: to
be computed together with tensors of the CPU, and to be turned into numpy arrays. Modules that are moved keep their
parameter objects, as they do on a real GPU, so a parameter that is shared is moved for everybody. Memory, speed and
half precision are not pretended, and what is computed are the CPU's numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_map

GPU = torch.device("cuda:0")
_real_tensor = torch.tensor
_MOVES = {"aten::_to_copy", "aten::copy_", "aten::_copy_from", "aten::set_", "aten::to"}
"""Operations that may read one device and write another."""
_INDEXED = {"aten::index", "aten::index_put", "aten::index_put_", "aten::_unsafe_index"}
"""Operations that take indices of the CPU for a tensor of the GPU."""


class OnGpu(torch.Tensor):
    """A tensor of the pretended GPU; `held` is the tensor of the CPU with its numbers."""

    held: torch.Tensor

    @staticmethod
    def __new__(cls, held: torch.Tensor) -> OnGpu:
        made: OnGpu = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
            cls, held.size(), strides=held.stride(), storage_offset=held.storage_offset(), dtype=held.dtype,
            layout=held.layout, device="meta", requires_grad=False,
        )  # fmt: skip
        made.held = held
        return made

    def __init__(self, held: torch.Tensor) -> None: ...

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The pretended GPU."""
        return GPU

    @property
    def is_cuda(self) -> bool:
        """Whether it is on a GPU."""
        return True

    @property
    def is_meta(self) -> bool:
        """Whether it has no numbers."""
        return False

    def tolist(self) -> Any:
        """Return the numbers."""
        return self.held.tolist()

    def __repr__(self, **_: Any) -> str:
        return f"OnGpu({self.held!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


class _Moves(TorchDispatchMode):
    """Sees operations on tensors of the CPU, which may move them to the GPU or make a tensor there."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


def _computed(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name = func._schema.name
    tensors: list[torch.Tensor] = []
    tree_map(lambda one: tensors.append(one) if isinstance(one, torch.Tensor) else None, (args, kwargs))
    there = [one for one in tensors if isinstance(one, OnGpu)]
    here = [one for one in tensors if not isinstance(one, OnGpu) and one.dim()]
    if any(one.is_meta for one in here):
        raise AssertionError(f"code of torch in C++ has made a tensor that the pretended GPU does not know ({name})")
    may_mix = name in _MOVES or (name in _INDEXED and isinstance(args[0], OnGpu))
    if there and here and not may_mix:
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu! ({name})"
        )
    wanted = kwargs.get("device")
    # Code of torch in C++ knows the tensors of the pretended GPU as those of `meta`, and makes further ones there.
    on_gpu = bool(there) if wanted is None else torch.device(wanted).type in ("cuda", "meta")
    if name == "aten::copy_":
        on_gpu = isinstance(args[0], OnGpu)
    if wanted is not None:
        kwargs = {**kwargs, "device": torch.device("cpu"), "pin_memory": None} if "pin_memory" in kwargs else {
            **kwargs, "device": torch.device("cpu")}  # fmt: skip
    plain_args, plain_kwargs = tree_map(_held, (args, kwargs))
    found = func(*plain_args, **plain_kwargs)
    if not on_gpu:
        return found
    wrapped = tree_map(lambda one: OnGpu(one) if isinstance(one, torch.Tensor) else one, found)
    return return_and_correct_aliasing(func, args, kwargs, wrapped) if there else wrapped


def _tensor(data: Any, *, device: Any = None, **options: Any) -> torch.Tensor:
    made = _real_tensor(data, **options)
    return made if device is None else made.to(device)


def _held(one: Any) -> Any:
    return one.held if isinstance(one, OnGpu) else one


@contextmanager
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let torch believe in a GPU within the block."""
    answers: dict[str, Any] = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "is_bf16_supported": lambda *_: True, "_lazy_init": lambda: None,
        "is_current_stream_capturing": lambda: False,
        "get_rng_state": lambda *_: torch.zeros(1, dtype=torch.uint8), "set_rng_state": lambda *_: None,
    }  # fmt: skip
    # Without a GPU, torch asks this stand-in which device is meant by `cuda`.
    torch._C._ensureCUDADeviceGuardSet()  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        for name, answer in answers.items():
            patched.setattr(torch.cuda, name, answer)
        # torch.tensor would ask the driver before this module sees it.
        patched.setattr(torch, "tensor", _tensor)
        # Tensors of a subclass cannot be made in inference mode.
        patched.setattr(torch, "inference_mode", torch.no_grad)
        swapped = torch.__future__.get_swap_module_params_on_conversion()
        torch.__future__.set_swap_module_params_on_conversion(True)
        try:
            with _Moves():
                yield
        finally:
            torch.__future__.set_swap_module_params_on_conversion(swapped)


@contextmanager
def no_gpu_touched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let torch believe in a GPU within the block, and fail loudly at everything that would take memory of it."""

    def touched(*_: Any, **__: Any) -> None:
        raise AssertionError("the work on the CPU has opened the GPU")

    with monkeypatch.context() as patched:
        patched.setattr(torch.cuda, "is_available", lambda: True)
        patched.setattr(torch.cuda, "device_count", lambda: 1)
        patched.setattr(torch.cuda, "_lazy_init", touched)
        yield
