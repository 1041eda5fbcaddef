"""The films of the search tests serve here too, and the makers as a knowledge base of its own."""

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.conftest import films, small_pipelines
from tests.training import makers
from tests.training.broken.stages import pipelines

__all__ = ["broken_site", "films", "makers_base", "small_pipelines"]


@pytest.fixture
def makers_base(db: None, settings: Settings, tmp_path: Path) -> Iterator[KnowledgeBase]:
    """The makers, indexed with vectors that mean nothing; files and artifacts in a folder of this test's own."""
    settings.GRASP_HOME = tmp_path / "home"
    encoder = {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": makers.DIMENSIONS}}
    scorers = {**settings.GRASP_TOOLS["plan_scorers"], "OPTIONS": {"directory": settings.GRASP_HOME / "artifacts"}}
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "encoder": encoder, "plan_scorers": scorers}
    grasp = copy.deepcopy(settings.GRASP_PIPELINES["grasp"])
    grasp["STAGES"]["plan"]["OPTIONS"] = {"parser": "new"}
    settings.GRASP_PIPELINES = {**settings.GRASP_PIPELINES, "grasp": grasp}
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=makers.bundle(tmp_path / "bundle"))
    yield KnowledgeBase.objects.get(name="makers")
    wiring.forget()
    wiring.encoder.cache_clear()


@pytest.fixture
def broken_site(db: None, settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """The pipelines of `broken/stages.py`, vectors that mean nothing, and a home of this test's own."""
    settings.GRASP_HOME = tmp_path / "home"
    encoder = {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": 32}}
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "encoder": encoder}
    settings.GRASP_PIPELINES = pipelines(settings.GRASP_PIPELINES)
    wiring.forget()
    wiring.encoder.cache_clear()
    yield settings
    wiring.forget()
    wiring.encoder.cache_clear()
