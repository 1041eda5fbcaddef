"""GRASP_DEVICE: what it takes, and the GPUs that jobs may use by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grasp_site import device
from grasp_site.device import gpus, read_device
from grasp_site.environment import SettingError


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "auto"), ("auto", "auto"), ("CPU", "cpu"), (" cuda ", "cuda"), ("cuda:0", "cuda:0"), ("cuda:12", "cuda:12")],
)
def test_a_device_is_read(text: str, expected: str) -> None:
    assert read_device(text) == expected


@pytest.mark.parametrize("text", ["gpu", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "cuda 0", "0"])
def test_anything_else_is_refused_with_what_it_takes(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_DEVICE", text)
    with pytest.raises(SettingError, match=r"GRASP_DEVICE: .* is no device; it takes auto, cpu, cuda, or one GPU by"):
        gpus()


@pytest.mark.parametrize(
    ("text", "there", "expected"),
    [("", 2, 2), ("cpu", 2, 0), ("cuda", 2, 2), ("cuda:1", 2, 1), ("cuda:0", 0, 0), ("auto", 0, 0)],
)
def test_the_gpus_that_jobs_may_use(
    text: str, there: int, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(there):
        (tmp_path / f"nvidia{at}").touch()
    (tmp_path / "nvidiactl").touch()
    monkeypatch.setattr(device, "_NODES", tmp_path)
    monkeypatch.setenv("GRASP_DEVICE", text)
    assert gpus() == expected
