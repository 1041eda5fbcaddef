"""Tests of questions that the planner answers wrongly today, by name, are expected to fail."""

from __future__ import annotations

from pathlib import Path

import pytest

KNOWN = Path(__file__).with_name("known_failures.txt")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Expect the known failures; a test that passes nevertheless fails the run."""
    failing = {line for line in KNOWN.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}
    for item in items:
        if item.path.is_relative_to(KNOWN.parent) and item.nodeid.removeprefix("tests/search/stages/plan/") in failing:
            item.add_marker(pytest.mark.xfail(strict=True))
