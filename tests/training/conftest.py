"""The films of the search tests serve here too, and the makers as a knowledge base of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.conftest import films, small_pipelines
from tests.training import makers

__all__ = ["films", "makers_base", "small_pipelines"]


@pytest.fixture
def makers_base(db: None, settings: Settings, tmp_path: Path) -> Iterator[KnowledgeBase]:
    """The makers, indexed with vectors that mean nothing; files and artifacts in a folder of this test's own."""
    settings.GRASP_HOME = tmp_path / "home"
    encoder = {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": makers.DIMENSIONS}}
    scorers = {**settings.GRASP_TOOLS["plan_scorers"], "OPTIONS": {"directory": settings.GRASP_HOME / "artifacts"}}
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "encoder": encoder, "plan_scorers": scorers}
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=makers.bundle(tmp_path / "bundle"))
    yield KnowledgeBase.objects.get(name="makers")
    wiring.forget()
    wiring.encoder.cache_clear()
