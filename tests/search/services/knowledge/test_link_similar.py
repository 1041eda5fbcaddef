"""Linking similar nodes makes a release beside the others, once, and says in a sentence why it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import transaction
from django.test import Client
from pytest_django.fixtures import Settings

from search import wiring
from search.domain.errors import InvalidRequest
from search.domain.graph import Field, Node
from search.domain.job_kinds import JobTarget
from search.domain.run_context import RunCancelled, RunContext
from search.domain.similarity import SimilarSettings
from search.domain.trace import Limit
from search.ingest.locks import import_lock
from search.ingest.similar import link, signals
from search.jobs.link_similar import LinkSimilarJob
from search.models import Job, KnowledgeBase, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.jobs.kinds import built
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.knowledge.index_snapshot import index_snapshot
from search.services.knowledge.link_similar import LinkFailed, link_similar
from search.services.knowledge.releases import activate_release, drop_release
from search.services.searches.describe_search import describe_search
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from tests.contents import NOTED
from tests.fakes import HashEncoder
from tests.graphs import schema_of, store
from tests.oracle import Graph

pytestmark = pytest.mark.django_db
PLOT = "A long road leads through the forest to a hidden town number"
GENRES = ("sea", "war")
FILMS = Graph(
    nodes=(
        *(Node(at, f"film/{at:02}", "film", f"Film {at}", fields={"plot": f"{PLOT} {at}.", "genre": GENRES[at % 2]})
          for at in range(12)),
        Node(12, "person/1", "person", "Ada Holm"),
    ),
    edges=((0, "made by", 12), (1, "made by", 12)),
)  # fmt: skip


def snapshot() -> Snapshot:
    base, _ = KnowledgeBase.objects.get_or_create(name="films")
    schema = schema_of(FILMS)
    fields = (Field("plot", "text"), Field("genre", "keyword"))
    film, person = schema.node_types
    schema = replace(schema, node_types=(replace(film, fields=fields), person))
    made = Snapshot.objects.create(
        knowledge_base=base, status=BuildStatus.READY, schema_json=schema.to_json(), nodes=13, edges=2
    )
    store(FILMS, schema, made.pk)
    return made


@pytest.fixture
def release() -> Release:
    made = index_snapshot(snapshot=snapshot(), encoder=HashEncoder())
    activate_release(knowledge_base=made.knowledge_base, release=made)
    return Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get(pk=made.pk)


def test_the_edges_belong_to_a_release_of_their_own(release: Release) -> None:
    linked = link_similar(release=release, settings=SimilarSettings(percentile=80, neighbours=3))
    assert (linked.release.name, linked.new) == ("films-2", True)
    assert (linked.release.snapshot_id, linked.release.vector_set_id) == (release.snapshot_id, release.vector_set_id)
    assert not wiring.Tools(release).similar.built
    assert not len(wiring.Tools(release).similar.neighbours(0).keys)
    similar = wiring.Tools(linked.release).similar
    assert similar.built
    assert similar.about == linked.report
    degrees = [len(similar.neighbours(key).keys) for key in range(13)]
    assert degrees[12] == 0
    assert max(degrees) == 3
    assert sum(degrees) == linked.report["edges"]
    # 30 of 66 pairs have the same genre, more than 20 %: the threshold is their similarity, and none exceeds it.
    found = {one["signal"]: one for one in linked.report["thresholds"]}  # type: ignore[attr-defined]
    assert set(found) == {"content", "title", "topics"}
    assert (found["topics"]["threshold"], found["topics"]["edges"]) == (1.0, 0)
    # The graph itself has no other edges than before.
    tools = wiring.Tools(linked.release)
    assert [relation.name for relation in tools.schema.relations] == ["made by"]
    assert tools.adjacency.whole("out")[1].tolist() == [12, 12]


def test_the_same_edges_are_made_once(release: Release) -> None:
    settings = SimilarSettings(neighbours=5)
    first = link_similar(release=release, settings=settings)
    again = link_similar(release=first.release, settings=settings)
    assert (again.release, again.new, again.report) == (first.release, False, first.report)
    other = link_similar(release=release, settings=replace(settings, neighbours=6))
    assert other.release.name == "films-3"


def test_edges_are_dropped_with_their_release_alone(release: Release) -> None:
    linked = link_similar(release=release, settings=SimilarSettings()).release
    assert linked.similar_directory.is_dir()
    drop_release(knowledge_base=release.knowledge_base, release=linked)
    assert not linked.similar_directory.exists()
    linked.refresh_from_db()
    with pytest.raises(LinkFailed, match="films-2 is dropped; only a release that is ready can be linked"):
        link_similar(release=linked, settings=SimilarSettings())
    assert wiring.Tools(release).nodes.references([1])[0].name == "Film 1"


def test_what_died_attempts_left_is_removed(release: Release) -> None:
    for name in (".similar.dead.new", "similar-987654321"):
        (release.snapshot.directory / name).mkdir()
    linked = link_similar(release=release, settings=SimilarSettings())
    names = {path.name for path in release.snapshot.directory.iterdir() if "similar" in path.name}
    names -= {name for name in names if name.endswith(NOTED)}
    assert names == {f"similar-{linked.release.pk}"}


def test_a_job_tells_the_release_the_thresholds_and_the_degrees(release: Release) -> None:
    job, _ = launch_job(kind="similar", knowledge_base="films", arguments={"neighbours": 4, "percentile": 70.0},
                        origin=Job.Origin.COMMAND, here=True)  # fmt: skip
    result = run_here(job)
    assert (result["release"], result["new"], result["nodes"], result["most_degree"]) == ("films-2", True, 12, 4)
    assert sum(result["degrees"].values()) == 12
    # The same job again finds what its first attempt has made.
    again, _ = launch_job(kind="similar", knowledge_base="films", arguments={"neighbours": 4, "percentile": 70.0},
                          origin=Job.Origin.COMMAND, here=True)  # fmt: skip
    assert run_here(again)["new"] is False


def command(*arguments: Any) -> str:
    out = StringIO()
    call_command("link_similar", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_shows_thresholds_and_degrees(release: Release) -> None:
    said = command("films", "--neighbours", "4", "--activate")
    assert said.startswith("films-2 is ready: ")
    assert "film, content: above 0." in said
    assert "(all 66 pairs)" in said
    release.knowledge_base.refresh_from_db()
    assert release.knowledge_base.active_release.name == "films-2"
    told = json.loads(command("films", "--release", "1", "--neighbours", "4", "--json"))
    assert (told["release"], told["new"]) == ("films-2", False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("films", "--percentile", "101"), "percentile must be between 50.0 and 100.0, not 101.0"),
        (("films", "--percentile", "5"), "percentile must be between 50.0 and 100.0, not 5.0"),
        (("films", "--neighbours", "0"), "neighbours must be between 1 and 100, not 0"),
        (("films", "--types", "flim"), "films has no type 'flim'; it has: film, person."),
        (("films", "--types", "person"), "No entity of the type 'person' has a text"),
        (("films", "--least-words", "500"), "fewer than two of films-1 have a text of 500 words"),
        (("films", "--release", "9"), "'films' has no release '9'"),
        (("nothing",), "nothing"),
    ],
)
def test_what_cannot_be_linked_is_said_in_a_sentence(release: Release, arguments: Any, sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        command(*arguments)
    assert Release.objects.count() == 1


def test_a_release_without_vectors_is_refused_with_what_makes_one(release: Release) -> None:
    bare = index_snapshot(snapshot=release.snapshot, embed=False)
    sentence = "films-2 has no vectors to compare; `index_kb films` makes a release with vectors."
    with pytest.raises(CommandError, match=sentence):
        command("films", "--release", "2")
    bare = Release.objects.select_related("snapshot", "knowledge_base").get(pk=bare.pk)
    with pytest.raises(LinkFailed, match="films-2 has no vectors"):
        link_similar(release=bare, settings=SimilarSettings())
    [fault] = LinkSimilarJob().refuse(JobTarget("films", "films-2"))
    assert fault.pointer == "/release"


def test_arguments_are_checked_by_every_door() -> None:
    with pytest.raises(InvalidRequest, match="percentile"):
        built("similar", {"percentile": float("nan")})
    with pytest.raises(InvalidRequest, match="neighbours"):
        built("similar", {"neighbours": 101})
    assert built("similar", {"types": ["film"]}).settings.types == ("film",)  # type: ignore[attr-defined]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_linked_while_an_import_runs() -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    from django.db import connection

    made = index_snapshot(snapshot=snapshot(), encoder=HashEncoder())
    held, done = Event(), Event()

    def hold() -> None:
        with import_lock("films") as free:
            assert free
            held.set()
            done.wait(30)
        connection.close()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        assert held.wait(30)
        try:
            with pytest.raises(LinkFailed, match="An import of 'films' is running"):
                link_similar(release=made, settings=SimilarSettings())
        finally:
            done.set()


def test_the_files_hold_what_the_rows_say(release: Release) -> None:
    linked = link_similar(release=release, settings=SimilarSettings(percentile=60, neighbours=25))
    similar = wiring.Tools(linked.release).similar
    matrix = wiring.Tools(release).vectors.matrix("name").rows.astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    threshold = next(one["threshold"] for one in linked.report["thresholds"] if one["signal"] == "title")  # type: ignore[attr-defined]
    for key in range(12):
        found = similar.neighbours(key)
        assert key not in found.keys
        assert (np.diff(found.strengths) <= 0).all()
        near = {far for far in range(12) if far != key and round(float(matrix[key] @ matrix[far]), 6) > threshold}
        assert near <= set(found.keys.tolist())


def test_a_run_that_was_cancelled_goes_on_and_writes_the_same_files(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "ROWS", 3)
    monkeypatch.setattr(link, "BLOCKS_A_CHECKPOINT", 1)
    whole = link_similar(release=release, settings=SimilarSettings(percentile=60)).release
    again = index_snapshot(snapshot=snapshot(), encoder=HashEncoder())
    again = Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get(pk=again.pk)
    stops = 0
    for patience in (12, 16, 10_000):
        left = iter(range(patience))
        run = RunContext(
            limit=Limit(cancelled=lambda left=left: next(left, None) is None),  # type: ignore[misc]
            checkpoints=FileCheckpoints(tmp_path / "job"), fenced=transaction.atomic,
        )  # fmt: skip
        releases = Release.objects.count()
        try:
            made = link_similar(release=again, settings=SimilarSettings(percentile=60), run=run).release
        except RunCancelled:
            stops += 1
            assert Release.objects.count() == releases
    assert stops == 2
    assert len(list((tmp_path / "job" / "0").glob("similar-*.npz"))) >= 8
    names = sorted(path.name for path in whole.similar_directory.glob("*.npy"))
    assert len(names) == 4
    for name in names:
        assert (whole.similar_directory / name).read_bytes() == (made.similar_directory / name).read_bytes()


def test_a_search_follows_the_edges_of_its_release_and_shows_them(release: Release, settings: Settings) -> None:
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    settings.GRASP_ENCODERS, settings.GRASP_ENCODER = {"hash@1": {}}, "hash@1"
    wiring.forget()
    wiring.encoder.cache_clear()
    options = {"plan": "none", "expand.seeds": 2, "expand.neighbours": 4}

    def searched() -> dict[str, Any]:
        run = request_search(
            knowledge_base="films", question="a hidden town in the forest", pipeline="sage", settings=options,
            enqueue=False,
        )  # fmt: skip
        return describe_search(run_search(run.pk))

    before = searched()
    expand = next(step for step in before["steps"] if step["name"] == "expand")
    assert expand["status"] == "degraded"
    assert "Entries of similar content are not linked in this knowledge base" in expand["detail"]
    linked = link_similar(release=release, settings=SimilarSettings(percentile=60)).release
    activate_release(knowledge_base=release.knowledge_base, release=linked)
    after = searched()
    assert after["release"] == "films-2"
    assert len(after["results"]) == len(before["results"]) == 13
    seeds = {result["node"]["id"] for result in after["results"][:2]}
    paths = [result["evidence"]["paths"] for result in after["results"][2:6]]
    assert all(path[0]["node"]["id"] in seeds for [path] in paths)
    assert {path[1]["relation"] for [path] in paths} <= {"IS_SIMILAR", "made by"}
    assert "IS_SIMILAR" in {path[1]["relation"] for [path] in paths}
    similar = next(at for at, [path] in enumerate(paths, 3) if path[1]["relation"] == "IS_SIMILAR")
    page = Client().get(f"/search/{after['id']}/results/{similar}/why/").content.decode()
    assert "is similar" in page
