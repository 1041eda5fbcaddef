"""The films of `small.py` and its pipelines, for whoever asks."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase
from search.services import health
from tests.search import small


@pytest.fixture
def small_pipelines(settings: Settings) -> Iterator[Settings]:
    """The site with the pipelines `path` and `text` and nothing else."""
    settings.GRASP_TOOLS = small.TOOLS
    settings.GRASP_PIPELINES = small.PIPELINES
    settings.GRASP_DEFAULT_PIPELINE = "path"
    small.HOOKS.clear()
    small.SCORES.clear()
    wiring.forget()
    health.forget()
    yield settings
    small.HOOKS.clear()
    small.SCORES.clear()
    wiring.forget()


@pytest.fixture
def films(db: None, small_pipelines: Settings) -> KnowledgeBase:
    """The films, with an active release."""
    return small.films()


@pytest.fixture
def api() -> Client:
    """A client that gets an answer for every error, as callers do."""
    return Client(raise_request_exception=False)
