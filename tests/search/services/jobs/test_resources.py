"""What a job's process uses."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from search.services.jobs.resources import gpu_memory_held


def test_gpu_memory_is_asked_for_while_another_thread_imports_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    assert gpu_memory_held() == 0
    monkeypatch.setattr(sys.modules["torch"], "cuda", ModuleType("torch.cuda"), raising=False)
    assert gpu_memory_held() == 0
