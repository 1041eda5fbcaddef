"""A change makes a new version over the active one; an older version can be made active again."""

from __future__ import annotations

import pytest

from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase, PipelineVersion
from search.services.pipelines.save_pipeline_version import activate_pipeline_version, save_pipeline_version

pytestmark = pytest.mark.django_db


def active(films: KnowledgeBase) -> PipelineVersion:
    return PipelineVersion.objects.get(knowledge_base=films, pipeline="path", active=True)


def test_a_version_lies_over_the_active_one_and_takes_its_place(films: KnowledgeBase) -> None:
    save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.k": 9.0, "retrieve.depth": 5})
    second = save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.k": 7.0}, note="tuned")
    assert (second.version, second.note) == (2, "tuned")
    assert second.options == {"fuse.k": 7.0, "retrieve.depth": 5}
    assert active(films) == second


def test_a_version_can_be_made_without_being_used(films: KnowledgeBase) -> None:
    first = save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.k": 9.0})
    second = save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.k": 7.0}, activate=False)
    assert active(films) == first
    activate_pipeline_version(second)
    assert active(films) == second


def test_what_the_pipeline_does_not_have_is_refused_and_nothing_is_written(films: KnowledgeBase) -> None:
    with pytest.raises(InvalidRequest) as refused:
        save_pipeline_version(knowledge_base=films, pipeline="path", options={"fuse.kk": 9.0, "retrieve.depth": "deep"})
    assert [fault.pointer for fault in refused.value.faults] == ["/settings/fuse.kk", "/settings/retrieve.depth"]
    with pytest.raises(InvalidRequest, match="no pipeline 'magic'"):
        save_pipeline_version(knowledge_base=films, pipeline="magic", options={})
    assert not PipelineVersion.objects.exists()
