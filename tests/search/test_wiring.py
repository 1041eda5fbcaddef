"""A specification is laid together from layers, frozen, and composed into stages."""

from __future__ import annotations

from typing import Any

import pytest

from search import wiring
from search.domain.errors import InvalidRequest
from search.models import KnowledgeBase
from tests.search import small


@pytest.fixture(autouse=True)
def _small(small_pipelines: Any) -> None:
    """Every test here works on the small pipelines."""


def test_later_layers_lie_over_earlier_ones_and_all_over_the_site() -> None:
    pipeline = wiring.pipeline("text")
    assert pipeline.defaults() == {"retrieve.depth": 50, "retrieve.exact": False}
    layered = pipeline.specification({"retrieve.depth": 7, "retrieve.exact": True}, {"retrieve.depth": 9})
    assert layered["stages"]["retrieve"] == {
        "BACKEND": "tests.search.small.Find",
        "OPTIONS": {"depth": 9, "exact": True},
    }


def test_faults_of_all_layers_are_said_at_once() -> None:
    with pytest.raises(InvalidRequest) as raised:
        wiring.pipeline("path").specification({"fuse.k": "x", "fuze.k": 1}, {"retrieve.depth": 1000})
    pointers = [fault.pointer for fault in raised.value.faults]
    assert pointers == ["/settings/fuse.k", "/settings/fuze.k", "/settings/retrieve.depth"]
    assert raised.value.faults[1].nearest == "fuse.k"


def test_the_schema_describes_every_kind_of_option() -> None:
    properties = wiring.pipeline("path").settings_schema()["properties"]
    assert properties["retrieve.exact"] == {
        "type": "boolean", "description": "Whether words must match.", "default": False,
    }  # fmt: skip
    assert properties["fuse.weights"] == {
        "type": "array", "description": "Of graph and text.", "default": [2.0, 1.0], "minimum": 0, "maximum": 10,
        "items": {"type": "number"}, "minItems": 2, "maxItems": 2,
    }  # fmt: skip


@pytest.mark.django_db
def test_stages_get_their_options_and_the_releases_tools(films: KnowledgeBase) -> None:
    assert films.active_release is not None
    tools = wiring.tools(films.active_release)
    pipeline = wiring.pipeline("path")
    stages = pipeline.compose(pipeline.specification({"fuse.weights": [3, 1]}), tools)
    assert stages.retrieve == small.Find(nodes=tools.nodes, depth=10)
    assert stages.fuse.weights == (3, 1)
    assert stages.rerank is None


@pytest.mark.django_db
def test_the_tools_of_a_release_are_built_once(films: KnowledgeBase) -> None:
    assert films.active_release is not None
    tools = wiring.tools(films.active_release)
    assert wiring.tools(films.active_release) is tools
    assert tools.nodes is tools.nodes
    wiring.forget()
    assert wiring.tools(films.active_release) is not tools


def test_a_pipeline_knows_the_tools_that_its_stages_take() -> None:
    assert wiring.pipeline("path").tools() == {"nodes"}
