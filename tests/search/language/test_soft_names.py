"""Nodes that leftover words describe or nearly name, in an indexed release with real indexes and chosen vectors."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import numpy as np
import pytest

from search import wiring
from search.domain.ranking import Candidate
from search.interfaces import Vectors
from search.language.soft_names import SoftTools, soft_names
from search.models import KnowledgeBase, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.index_snapshot import index_snapshot
from tests.fakes import HashEncoder
from tests.graphs import schema_of, store
from tests.oracle import Graph
from tests.search.demo_schema import demo_nodes, demo_schema

pytestmark = pytest.mark.django_db


@pytest.fixture
def release() -> Release:
    base = KnowledgeBase.objects.create(name="medicine")
    nodes = demo_nodes("biomedical")
    schema = demo_schema("biomedical")
    made = Snapshot.objects.create(
        knowledge_base=base, status=BuildStatus.READY, schema_json=schema.to_json(), nodes=len(nodes), edges=0
    )
    graph = Graph(nodes=tuple(nodes), edges=())
    assert set(schema_of(graph).type_codes) == set(schema.type_codes)
    store(graph, schema, made.pk)
    return index_snapshot(snapshot=made, encoder=HashEncoder())


def tools_of(release: Release) -> SoftTools:
    wiring.forget()
    tools = wiring.tools(release)
    return SoftTools(tools.text, tools.nodes, tools.mentions)


def found(text: str, phrase: str, tools: SoftTools) -> list[tuple[str, str]]:
    start = text.index(phrase)
    names = soft_names(text, [(start, start + len(phrase))], tools)
    assert all(text[name.mention.start : name.mention.end] == name.mention.text for name in names)
    assert [name.mention.similarity for name in names] == sorted(
        (name.mention.similarity for name in names), reverse=True
    )
    assert all(0 < name.sure < 0.8 for name in names)
    return [(name.mention.meant, name.how) for name in names]


@pytest.mark.parametrize(
    ("text", "phrase", "name", "how"),
    [
        ("What is made from foxglove?", "foxglove", "Digoxin", "described"),
        ("drugs from the Crocus", "Crocus", "Colchicine", "described"),
        ("et la polyarthrite rhumatoïde ?", "polyarthrite rhumatoïde", "Rheumatoid arthritis", "translated"),
        ("was hilft gegen Migräne", "Migräne", "Migraine", "translated"),
    ],
)  # fmt: skip
def test_a_brand_in_a_text_and_a_word_of_another_language_lead_to_their_nodes(
    release: Release, text: str, phrase: str, name: str, how: str
) -> None:
    assert (name, how) in found(text, phrase, tools_of(release))


@pytest.mark.parametrize(
    "phrase", ["little", "paper", "winter roads", "taken by mouth", "the", "?!", "zzzqq", "noise", "reads maps"]
)
def test_common_words_describe_nothing(release: Release, phrase: str) -> None:
    assert found(f"what about {phrase} then", phrase, tools_of(release)) == []


@pytest.mark.parametrize("word", ["breakfast", "drains", "ringing", "breath"])
def test_a_word_of_the_texts_is_no_other_languages_word_for_a_name(release: Release, word: str) -> None:
    """By their letters alone they would be Breast, Brain, Tingling."""
    assert not [how for _, how in found(f"what about {word} then", word, tools_of(release)) if how == "translated"]


def test_a_release_without_near_names_still_reads_texts(release: Release) -> None:
    shutil.rmtree(release.snapshot.directory / "near_names")
    release.snapshot.index_folders.filter(name="near_names").delete()
    assert found("what is foxglove for", "foxglove", tools_of(release)) == [("Digoxin", "described")]


@pytest.mark.parametrize(
    ("phrase", "cosine", "near"), [("feel odd", 0.6, True), ("odd", 0.6, False), ("odd", 0.7, False)]
)
def test_of_what_is_like_the_schema_only_phrases_are_compared_with_names(
    release: Release, phrase: str, cosine: float, near: bool
) -> None:
    """A single word like the schema mostly means it; a phrase such as *feel dizzy* means more than a symptom."""
    tools, chosen = tools_of(release), Chosen(cosine, 0.3)
    both = SoftTools(tools.text, tools.nodes, tools.mentions, chosen, chosen)  # type: ignore[arg-type]
    text = f"drugs that {phrase}"
    names = soft_names(text, [], both, unsaid=[(11, len(text))])
    assert [(name.mention.text, name.how) for name in names] == ([(phrase, "near")] if near else [])


def test_an_everyday_word_wins_over_what_is_like_it(release: Release) -> None:
    text, chosen = "remedies against raised blood pressure", Chosen(0.9, 0.1)
    tools = tools_of(release)
    both = SoftTools(tools.text, tools.nodes, tools.mentions, chosen, chosen)  # type: ignore[arg-type]
    names = soft_names(text, [], both, unsaid=[(17, len(text))])
    assert [(name.mention.meant, name.how) for name in names] == [("hypertension", "synonym")]


def test_no_stretches_cost_nothing(release: Release) -> None:
    assert soft_names("what is foxglove for", [], tools_of(release)) == []


class Chosen:
    """Vectors of names whose cosines with every phrase are chosen, best first."""

    kinds = frozenset({"name"})
    name, dimensions = "chosen", 2

    def __init__(self, *cosines: float) -> None:
        self.cosines = cosines

    def nearest(
        self, kind: str, vector: Vectors, k: int, labels: Sequence[str] = (), limit: object = None
    ) -> list[Candidate]:
        return [Candidate(key, cosine) for key, cosine in enumerate(self.cosines)][:k]

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 2), dtype=np.float32)


@pytest.mark.parametrize(
    ("cosines", "near"),
    [((0.8, 0.5, 0.4), True), ((0.6, 0.2, 0.1), False), ((0.8, 0.79, 0.78, 0.77, 0.76), False), ((), False)],
)
def test_the_nearest_name_counts_if_it_is_near_and_well_ahead(
    release: Release, cosines: tuple[float, ...], near: bool
) -> None:
    tools, chosen = tools_of(release), Chosen(*cosines)
    both = SoftTools(tools.text, tools.nodes, tools.mentions, chosen, chosen)  # type: ignore[arg-type]
    hows = [how for _, how in found("drugs against vermin", "vermin", both)]
    assert hows == (["near"] if near else [])
