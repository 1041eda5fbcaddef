"""A release that was made without vectors: it is searched by words and by the graph, and says so."""

import pytest

from search import wiring
from search.domain.errors import StageError
from search.domain.question import Question
from search.domain.trace import Trace
from search.models import Release, VectorSet
from search.services.knowledge.index_snapshot import build_index
from search.services.knowledge.releases import activate_release
from tests.fakes import HashEncoder
from tests.search.services.knowledge.test_index_snapshot import snapshot_of

pytestmark = pytest.mark.django_db(transaction=True)


def release() -> Release:
    made = build_index(snapshot=snapshot_of(), embed=False).release
    activate_release(knowledge_base=made.knowledge_base, release=made)
    return made


def searched(release: Release, pipeline: str, question: str) -> tuple[list[str], Trace]:
    tools, trace = wiring.tools(release), Trace()
    used = wiring.pipeline(pipeline)
    ranking = used.search(Question(question, k=5), used.compose(used.specification({}), tools), trace)
    return tools.nodes.ids([candidate.key for candidate in ranking]), trace


def test_it_is_made_once_and_nothing_is_encoded() -> None:
    made = release()
    assert made.vector_set is None
    assert not VectorSet.objects.exists()
    assert build_index(snapshot=made.snapshot, embed=False).release == made


def test_words_and_the_graph_find_what_they_can_and_the_rest_is_said() -> None:
    made = release()
    found, trace = searched(made, "grasp", "Which person made Amber Road?")
    assert set(found[:5]) <= {f"person/{at:02}" for at in range(12)}
    [retrieve] = [step for step in trace.steps if step.name == "retrieve"]
    assert retrieve.status == "degraded"
    assert "no vectors" in retrieve.detail
    assert searched(made, "bm25", "neighbours and a birch")[0][0] == "film/2"
    with pytest.raises(StageError, match="no vectors"):
        searched(made, "vss", "neighbours and a birch")


def test_a_later_call_makes_a_release_with_vectors_beside_it() -> None:
    made = release()
    whole = build_index(snapshot=made.snapshot, encoder=HashEncoder()).release
    assert (whole.number, whole.vector_set is not None) == (made.number + 1, True)
    assert build_index(snapshot=made.snapshot, embed=False).release == made
