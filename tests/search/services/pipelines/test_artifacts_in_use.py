"""Artifacts are promoted only if searches can use them, rolled back, and deleted only if nothing uses them."""

from __future__ import annotations

import json
import shlex
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from pytest_django.fixtures import DjangoCaptureOnCommitCallbacks, Settings
from safetensors.numpy import save

from search.domain.errors import InvalidRequest, NotAllowed
from search.models import (
    Artifact,
    Job,
    KnowledgeBase,
    PipelineVersion,
    Release,
    SearchRun,
    Snapshot,
    VectorSet,
)
from search.services.pipelines.delete_artifact import ArtifactInUse, delete_artifact, uses_of
from search.services.pipelines.register_artifact import register_artifact
from search.services.pipelines.save_pipeline_version import activate_pipeline_version, save_pipeline_version
from search.services.pipelines.serve_adapter import serving_of
from search.services.pipelines.switch_version import promote, roll_back

pytestmark = pytest.mark.django_db


@pytest.fixture
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.GRASP_HOME = tmp_path
    return tmp_path / "artifacts"


@pytest.fixture
def base(db: None, home: Path) -> KnowledgeBase:
    return KnowledgeBase.objects.create(name="town")


def made(base: KnowledgeBase, kind: str = "planner", **changed: Any) -> Artifact:
    given: dict[str, Any] = {
        "knowledge_base": base, "kind": kind, "tensors": {"a": np.ones(2, dtype=np.float32)}, "configuration": {},
        "served": {}, "metrics": {"H@1": 50.0}, "data_hash": "00", "files": {"README.md": b"# Planner\n\n<b>x</b>\n"},
    }  # fmt: skip
    return register_artifact(**{**given, **changed})


def version(base: KnowledgeBase, artifact: Artifact, **more: Any) -> PipelineVersion:
    return save_pipeline_version(
        knowledge_base=base, pipeline="grasp", options={"plan.artifact": artifact.pk}, **more
    )  # fmt: skip


def options_in_use(base: KnowledgeBase) -> dict[str, Any]:
    active = PipelineVersion.objects.filter(knowledge_base=base, active=True).first()
    return dict(active.options) if active else {}


def test_a_version_is_promoted_and_rolled_back_to_what_was_in_use_before(base: KnowledgeBase) -> None:
    first, second, third = made(base), made(base), made(base)
    version(base, first)
    version(base, second, activate=False)
    version(base, third)
    assert options_in_use(base) == {"plan.artifact": third.pk}
    # The second version was never in use, so it is not what the third one replaced.
    back = roll_back(knowledge_base=base, pipeline="grasp", user=None)
    assert (back and back.version, options_in_use(base)) == (1, {"plan.artifact": first.pk})
    assert promote(knowledge_base=base, pipeline="grasp", version=2, user=None) == PipelineVersion.objects.get(
        version=2
    )
    assert options_in_use(base) == {"plan.artifact": second.pk}
    assert roll_back(knowledge_base=base, pipeline="grasp", user=None) == PipelineVersion.objects.get(version=1)
    assert roll_back(knowledge_base=base, pipeline="grasp", user=None) is None
    assert options_in_use(base) == {}
    with pytest.raises(InvalidRequest, match="town uses the site's specification of grasp, so there is nothing"):
        roll_back(knowledge_base=base, pipeline="grasp", user=None)
    with pytest.raises(InvalidRequest, match="town has no version 9 of grasp; it has: 3, 2, 1"):
        promote(knowledge_base=base, pipeline="grasp", version=9, user=None)
    with pytest.raises(NotAllowed):
        promote(knowledge_base=base, pipeline="grasp", version=1, user=User.objects.create_user("someone"))


def test_a_version_keeps_the_other_options(base: KnowledgeBase) -> None:
    save_pipeline_version(knowledge_base=base, pipeline="grasp", options={"fuse.k": 5})
    artifact = made(base)
    assert version(base, artifact).options == {"fuse.k": 5, "plan.artifact": artifact.pk}


def harm(artifact: Artifact) -> None:
    weights = artifact.directory / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")


def forge(artifact: Artifact) -> None:
    Artifact.objects.filter(pk=artifact.pk).update(content_hash="00" * 16)


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (harm, "cannot be used: its file model.safetensors was changed after it was registered."),
        (forge, "was registered"),
        (lambda artifact: (artifact.directory / "x.pkl").write_bytes(b""), "x.pkl is a pickle or may contain one"),
    ],
)
def test_what_differs_from_what_was_registered_is_not_promoted(base: KnowledgeBase, damage: Any, sentence: str) -> None:
    artifact = made(base)
    waiting = version(base, artifact, activate=False)
    damage(artifact)
    with pytest.raises(InvalidRequest) as refused:
        activate_pipeline_version(waiting)
    assert artifact.pk in str(refused.value)
    assert sentence in str(refused.value)
    assert refused.value.faults[0].pointer == "/settings/plan.artifact"
    assert options_in_use(base) == {}


def test_another_kind_another_encoder_and_nothing_at_all_are_refused_by_name(base: KnowledgeBase) -> None:
    ranker = made(base, "ranker")
    with pytest.raises(InvalidRequest, match=rf"{ranker.pk} is a ranker, and plan\.artifact takes a planner"):
        version(base, ranker)
    with pytest.raises(
        InvalidRequest, match="There is no trained part 'planner-gone'; it was deleted, or never made here"
    ):
        save_pipeline_version(knowledge_base=base, pipeline="grasp", options={"plan.artifact": "planner-gone"})
    snapshot = Snapshot.objects.create(knowledge_base=base)
    vectors = VectorSet.objects.create(snapshot=snapshot, encoder="one@1", dimensions=4)
    base.active_release = Release.objects.create(knowledge_base=base, number=1, snapshot=snapshot, vector_set=vectors)
    base.save()
    other = made(base, served={"encoder": "other@2"})
    with pytest.raises(InvalidRequest, match=r"was learned over vectors of other@2, and .* has those of one@1\."):
        version(base, other)
    assert version(base, made(base, served={"encoder": "one@1"})).active


def test_an_artifact_in_use_is_not_deleted_and_says_by_what(
    base: KnowledgeBase, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    artifact = made(base)
    version(base, artifact)
    with pytest.raises(ArtifactInUse, match=f"{artifact.pk} is in use by the active version grasp 1 for town"):
        delete_artifact(artifact, user=None)
    promote(knowledge_base=base, pipeline="grasp", version=0, user=None)
    job = Job.objects.create(kind="evaluate", state="running", specification={"pins": [{"artifact": artifact.pk}]})
    assert uses_of(artifact) == [f"the job {job.pk} (evaluate)"]
    Job.objects.update(state="done")
    run = SearchRun.objects.create(status="running", specification={"stages": {"plan": {"a": artifact.pk}}})
    assert uses_of(artifact) == [f"the search {run.pk}"]
    SearchRun.objects.update(status="done")
    with django_capture_on_commit_callbacks(execute=True):
        delete_artifact(artifact, user=None)
    assert not artifact.directory.exists()
    with pytest.raises(InvalidRequest, match="There is no trained part"):
        promote(knowledge_base=base, pipeline="grasp", version=1, user=None)


def test_deletion_takes_the_right(base: KnowledgeBase) -> None:
    with pytest.raises(NotAllowed, match="delete trained parts"):
        delete_artifact(made(base), user=User.objects.create_user("someone"))
    assert Artifact.objects.exists()


def test_the_command_lists_checks_and_deletes(base: KnowledgeBase) -> None:
    artifact = made(base)
    in_use = version(base, artifact)

    def said(*arguments: str) -> dict[str, Any]:
        out = StringIO()
        call_command("artifacts", *arguments, "--json", stdout=out)
        return dict(json.loads(out.getvalue()))

    assert [row["artifact"] for row in said("list")["artifacts"]] == [artifact.pk]
    assert said("show", artifact.pk)["versions"] == [str(in_use)]
    assert said("check", artifact.pk)["usable"] is True
    err = StringIO()
    with pytest.raises(SystemExit):
        call_command("artifacts", "delete", artifact.pk, stderr=err)
    assert "is in use by the active version" in err.getvalue()
    harm(artifact)
    with pytest.raises(SystemExit):
        said("check", artifact.pk)
    roll_back(knowledge_base=base, pipeline="grasp", user=None)
    assert said("delete", artifact.pk)["deleted"] is True
    assert not Artifact.objects.exists()


ADAPTER = {"peft_type": "LORA", "r": 24, "base_model_name_or_path": "Qwen/Qwen3-Reranker-0.6B", "bias": "none",
           "modules_to_save": None, "use_dora": False}  # fmt: skip


def adapted(base: KnowledgeBase, more: dict[str, bytes] | None = None, **changed: Any) -> Artifact:
    files = {
        **(more or {}),
        "adapter_config.json": json.dumps({**ADAPTER, **changed}).encode(),
        "adapter_model.safetensors": save({"a": np.ones(1, dtype=np.float32)}),
    }
    job = {"base_model": {"name": "Qwen/Qwen3-Reranker-0.6B", "revision": "abc123"}}
    return made(base, "reranker", tensors={}, files=files, job=job)


def test_an_adapter_is_served_as_it_lies(base: KnowledgeBase) -> None:
    artifact = adapted(base)
    served = serving_of(artifact)
    assert served is not None
    assert served.command == (
        "vllm serve Qwen/Qwen3-Reranker-0.6B --revision abc123 --enable-lora --max-lora-rank 32 "
        f"--lora-modules {artifact.pk}={artifact.directory}"
    )
    assert served.faults == ()
    assert serving_of(made(base)) is None


def test_a_reranker_is_served_with_the_chat_that_it_was_trained_on(base: KnowledgeBase) -> None:
    artifact = adapted(base, {"score_template.jinja": b"{{- query -}}"})
    served = serving_of(artifact)
    assert served is not None
    options = shlex.split(served.command)
    assert options[options.index("--chat-template") + 1] == str(artifact.directory / "score_template.jinja")
    assert options[options.index("--runner") + 1] == "pooling"
    overrides = json.loads(options[options.index("--hf-overrides") + 1])
    assert overrides["classifier_from_token"] == ["no", "yes"]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"r": 1024}, "The rank 1024 is not between 1 and 512."),
        ({"modules_to_save": ["score"]}, "It has whole modules (score), which vLLM does not load."),
        ({"bias": "all"}, "It has trained biases, which vLLM does not load."),
        ({"use_dora": True}, "Its weights are decomposed (DoRA), which vLLM does not load."),
        ({"peft_type": "IA3"}, "The adapter is of the method IA3; vLLM serves LORA."),
        (
            {"base_model_name_or_path": "other"},
            "adapter_config.json names the base model other, and job.json names Qwen/Qwen3-Reranker-0.6B.",
        ),
    ],
)
def test_what_vllm_would_refuse_is_said_before(base: KnowledgeBase, changed: dict[str, Any], sentence: str) -> None:
    served = serving_of(adapted(base, **changed))
    assert served is not None
    assert served.faults == (sentence,)
