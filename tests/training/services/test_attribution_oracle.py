"""Where answers were lost, held against searches in which one stage is broken on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from search.services.knowledge.import_snapshot import import_snapshot
from tests.training import broken
from training.evaluation.lost import LostStage

pytestmark = pytest.mark.django_db
LOST = 5
"""Lost answers of each broken stage at least; `python -m benchmarks lost` takes more than a thousand in all."""


def test_the_stage_that_was_broken_is_the_stage_that_is_named(broken_site: Settings, tmp_path: Path) -> None:
    world = broken.World.of()
    import_snapshot(source=world.bundle(tmp_path / "bundle"))
    asked = world.questions()
    found = [verdict for one in broken.BREAKS for verdict in broken.verdicts(one, asked, LOST)]
    found += broken.missing_edges(world, asked, 2 * LOST)
    table = broken.confusion(found)
    assert len(table) == len(broken.BREAKS) + 2
    assert {one.stage for one in found} == set(LostStage) - {LostStage.FAILED, LostStage.UNDECIDED}
    wrong = [one for one in found if one.named is not one.stage]
    assert len(wrong) <= 0.02 * len(found), (table, wrong[:5])
