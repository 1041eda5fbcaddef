"""A whole search as JSON, written by hand: two plans, a join, four results, one of them hostile."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import current_app

from search.domain.payloads import Traversals
from search.services.searches.verdict import told
from search.views import gallery

SEARCH = Path(gallery.__file__).with_name("search.json")


@pytest.fixture
def described() -> dict[str, Any]:
    search = {
        "answer": {"kind": "list", "count": 2, "complete": True},
        **json.loads(SEARCH.read_text(encoding="utf-8")),
    }
    return search | told(search, Traversals(), None)


@pytest.fixture
def broker_away() -> Iterator[None]:
    """Celery sends to an address where nobody listens."""
    kept = current_app.conf.broker_write_url, current_app.conf.broker_url
    current_app.conf.broker_write_url = current_app.conf.broker_url = "redis+socket:///nowhere/valkey.sock"
    current_app.amqp._producer_pool = current_app._pool = None
    yield
    current_app.conf.broker_write_url, current_app.conf.broker_url = kept
    current_app.amqp._producer_pool = current_app._pool = None
