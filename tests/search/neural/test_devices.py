"""The device of models, and that what is drawn on it depends on the seed and changes nothing else."""

from __future__ import annotations

import pytest
import torch

from search.neural import devices
from search.neural.devices import chosen_device, chosen_dtype, computes_bfloat16, kind_of, seeded
from tests.pretend_gpu import no_gpu_touched, pretended


@pytest.mark.parametrize("device", ["cuda", "cuda:0", "cuda:7"])
def test_a_gpu_that_is_named_by_its_number_is_a_gpu(device: str) -> None:
    assert kind_of(device) == "cuda"
    assert computes_bfloat16(device)
    assert chosen_dtype("auto", device) == torch.bfloat16


def test_auto_is_a_gpu_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")
    with pretended(monkeypatch):
        assert chosen_device("auto") == "cuda"
        assert chosen_device("cpu") == "cpu"
        assert chosen_device("cuda:1") == "cuda:1"


def test_float32_is_used_on_a_cpu_without_bfloat16(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "has_bfloat16", lambda: False)
    assert chosen_dtype("auto", "cpu") == torch.float32


def test_a_seed_decides_what_is_drawn_and_nothing_after_it() -> None:
    torch.manual_seed(1)
    expected = torch.rand(2)
    torch.manual_seed(1)
    with seeded(7):
        first = torch.rand(3)
    assert torch.equal(torch.rand(2), expected)
    with seeded(7):
        assert torch.equal(torch.rand(3), first)


def test_a_seed_on_the_cpu_asks_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    with no_gpu_touched(monkeypatch), seeded(3):
        torch.rand(1)
