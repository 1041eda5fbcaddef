"""Where answers were lost, held against searches in which one stage is broken on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from search import wiring
from search.services.knowledge.import_snapshot import import_snapshot
from tests.training import broken
from training.evaluation.lost import LostStage

pytestmark = pytest.mark.django_db
LOST = 6
"""Lost answers of each broken stage at least; `python -m benchmarks lost` takes more than a thousand in all."""


@pytest.fixture
def world(db: None, settings: Settings, tmp_path: Path) -> Iterator[broken.World]:
    """The world of `broken.py` as an active release, with its pipelines and vectors that mean nothing."""
    settings.GRASP_HOME = tmp_path / "home"
    encoder = {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": 32}}
    settings.GRASP_TOOLS = {**settings.GRASP_TOOLS, "encoder": encoder}
    settings.GRASP_PIPELINES = broken.pipelines(settings.GRASP_PIPELINES)
    wiring.forget()
    wiring.encoder.cache_clear()
    made = broken.World.of()
    import_snapshot(source=made.bundle(tmp_path / "bundle"))
    yield made
    wiring.forget()
    wiring.encoder.cache_clear()


def test_the_stage_that_was_broken_is_the_stage_that_is_named(world: broken.World) -> None:
    asked = world.questions()
    found = [verdict for one in broken.BREAKS for verdict in broken.verdicts(one, asked, LOST)]
    found += broken.missing_edges(world, asked, 2 * LOST)
    table = broken.confusion(found)
    assert len(table) == len(broken.BREAKS) + 2
    assert {one.stage for one in found} == set(LostStage) - {LostStage.FAILED, LostStage.UNDECIDED}
    wrong = [one for one in found if one.named is not one.stage]
    assert len(wrong) <= 0.02 * len(found), (table, wrong[:5])
