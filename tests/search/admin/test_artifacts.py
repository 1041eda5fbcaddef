"""The pages of artifacts: the card, the files, what uses them, downloads, and deletion of what nothing uses."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks, Settings

from search.admin.heat_map import heat_maps, surfaces_of
from search.models import Artifact, KnowledgeBase, PipelineVersion
from search.services.pipelines.register_artifact import register_artifact
from search.services.pipelines.save_pipeline_version import save_pipeline_version

pytestmark = pytest.mark.django_db
CARD = b"# Scorer\n\nIt *scores* <script>alert(1)</script>.\n\n| | H@1 |\n|---|---|\n| after | 97.00 |\n"


@pytest.fixture
def artifact(db: None, settings: Settings, tmp_path: Path) -> Artifact:
    settings.GRASP_HOME = tmp_path
    base = KnowledgeBase.objects.create(name="town")
    return register_artifact(
        knowledge_base=base, kind="planner", tensors={"a": np.ones(2, dtype=np.float32)}, configuration={"seed": 7},
        served={}, metrics={"H@1": 97.0}, data_hash="00", files={"README.md": CARD},
    )  # fmt: skip


@pytest.fixture
def keeper(db: None) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("keeper"))
    return client


def page_of(client: Client, artifact: Artifact, verb: str = "change") -> str:
    return client.get(f"/admin/search/artifact/{artifact.pk}/{verb}/", follow=True).content.decode()


def test_the_page_shows_the_card_the_files_and_what_uses_it(keeper: Client, artifact: Artifact) -> None:
    version = save_pipeline_version(
        knowledge_base=artifact.knowledge_base, pipeline="grasp", options={"plan.artifact": artifact.pk}
    )
    page = page_of(keeper, artifact)
    assert "<h3>Scorer</h3>" in page
    assert "<td>97.00</td>" in page
    assert "<script>alert(1)" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "It can be used: its files are those that were registered." in page
    assert f"/admin/search/pipelineversion/{version.pk}/change/" in page
    assert "active: the next searches use it" in page
    assert "It has no adapter of a language model" in page
    assert all(name in page for name in ("config.json", "job.json", "model.safetensors", artifact.content_hash))
    listed = keeper.get("/admin/search/artifact/").content.decode()
    assert artifact.pk in listed


def test_damage_is_told_on_the_page(keeper: Client, artifact: Artifact) -> None:
    (artifact.directory / "job.json").write_bytes(b"{}")
    assert "its file job.json was changed after it was registered" in page_of(keeper, artifact)


def test_all_files_come_as_one_archive(keeper: Client, artifact: Artifact) -> None:
    answer = keeper.get(f"/admin/search/artifact/{artifact.pk}/download/")
    content = b"".join(answer.streaming_content)  # type: ignore[arg-type]
    with zipfile.ZipFile(BytesIO(content)) as archive:
        assert archive.read(f"{artifact.pk}/README.md") == CARD
        assert len(archive.namelist()) == 5
    assert keeper.get("/admin/search/artifact/planner-gone/download/").status_code == 404
    rest = keeper.get(f"/admin/search/artifact/{artifact.pk}/download/", headers={"Range": "bytes=100-"})
    assert b"".join(rest.streaming_content) == content[100:]  # type: ignore[arg-type]
    assert rest["ETag"] == answer["ETag"]


def test_what_is_in_use_is_not_deleted_and_the_page_says_by_what(
    keeper: Client, artifact: Artifact, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    version = save_pipeline_version(
        knowledge_base=artifact.knowledge_base, pipeline="grasp", options={"plan.artifact": artifact.pk}
    )
    address = f"/admin/search/artifact/{artifact.pk}/delete/"
    assert "is in use by the active version grasp 1 for town" in keeper.get(address).content.decode()
    keeper.post(address, {"post": "yes"})
    assert Artifact.objects.exists()
    back = keeper.post(f"/admin/search/pipelineversion/{version.pk}/roll-back/", follow=True)
    assert "use the site&#x27;s grasp again" in back.content.decode()
    assert not PipelineVersion.objects.filter(active=True).exists()
    with django_capture_on_commit_callbacks(execute=True):
        keeper.post(address, {"post": "yes"})
    assert not Artifact.objects.exists()
    assert not artifact.directory.exists()


def test_a_version_whose_artifact_is_gone_is_not_activated_from_its_page(keeper: Client, artifact: Artifact) -> None:
    version = save_pipeline_version(
        knowledge_base=artifact.knowledge_base, pipeline="grasp", options={"plan.artifact": artifact.pk}, activate=False
    )
    keeper.post(f"/admin/search/artifact/{artifact.pk}/delete/", {"post": "yes"})
    said = keeper.post(f"/admin/search/pipelineversion/{version.pk}/activate/", follow=True).content.decode()
    assert "it was deleted, or never made here" in said
    assert not PipelineVersion.objects.filter(active=True).exists()


SURFACE = {
    "method": "static", "k": [1.0, 2.0], "weight": [0.0, 0.5, 1.0], "H@1": [[10.0, 20.0, 30.0], [10.0, 60.0, 0.0]],
    "MRR": [], "chosen": [1, 1], "in_use": [0, 2],
}  # fmt: skip


def test_a_heat_map_has_a_cell_and_a_number_for_each_pair() -> None:
    [drawn] = heat_maps([SURFACE])
    assert [(cell.shade, cell.mark) for cell in drawn.cells] == [
        (1, ""), (2, ""), (3, "in use"), (1, ""), (5, "best"), (1, ""),
    ]  # fmt: skip
    assert drawn.cells[4].text == "k 2, weight 0.5: H@1 60.0"
    assert drawn.rows == (("1", ("10.0", "20.0", "30.0")), ("2", ("10.0", "60.0", "0.0")))
    assert "from 0.0 to 60.0" in drawn.summary
    assert heat_maps([{**SURFACE, "H@1": []}]) == []


def test_surfaces_are_found_in_tunings_and_in_trainings_of_everything() -> None:
    assert [one["named"] for one in surfaces_of({"part": "fusion", "surfaces": [SURFACE]})] == [""]
    whole = {"parts": [{"part": "planner"}, {"part": "fusion", "surfaces": [SURFACE, SURFACE]}]}
    assert [one["named"] for one in surfaces_of(whole)] == ["fusion: ", "fusion: "]
    assert surfaces_of(None) == []
