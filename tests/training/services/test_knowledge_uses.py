"""A running evaluation refuses the removal of what it reads; one that has ended does not."""

from __future__ import annotations

import pytest

from search.models import KnowledgeBase, Release
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.releases import ReleaseError, drop_release
from search.services.knowledge.removal import removal_of_base, removal_of_release
from training.models import Evaluation


def test_a_running_evaluation_refuses_the_removal_of_its_release_and_its_base(films: KnowledgeBase) -> None:
    active = films.active_release
    assert active is not None
    other = Release.objects.create(knowledge_base=films, number=9, snapshot=active.snapshot, status="ready")
    running = Evaluation.objects.create(
        knowledge_base=films, release=other, release_name=other.name, code_version="1", status="running"
    )
    with pytest.raises(ReleaseError, match=f"films-9 is in use by the evaluation {running.pk}"):
        drop_release(knowledge_base=films, release=other)
    with pytest.raises(ReleaseError, match=f"films is in use by the evaluation {running.pk}"):
        delete_knowledge_base(knowledge_base=films)
    assert any(str(running.pk) in sentence for sentence in removal_of_release(other).refused)
    assert not any(str(running.pk) in sentence for sentence in removal_of_release(active).refused)

    Evaluation.objects.update(status="done")
    assert removal_of_release(other).refused == ()
    assert removal_of_base(films).refused == ()
    assert "1 evaluation" in removal_of_base(films).goes
