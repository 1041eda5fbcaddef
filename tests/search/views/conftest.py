"""A whole search as JSON, written by hand: two plans, a join, four results, one of them hostile."""

import json
from pathlib import Path
from typing import Any

import pytest

SEARCH = Path(__file__).with_name("search.json")


@pytest.fixture
def described() -> dict[str, Any]:
    return json.loads(SEARCH.read_text(encoding="utf-8"))
