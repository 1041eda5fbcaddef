"""An encoder of questions and documents learns, and what it has computed is searched with it and with nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pytest_django.fixtures import Settings
from sentence_transformers import SentenceTransformer
from torch import Tensor

from search import wiring
from search.artifact_files import MANIFEST, content_hash, manifest_of
from search.domain.errors import InvalidRequest, SearchCancelled, StageError
from search.domain.graph import Node
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, PipelineVersion, Release, SearchRun
from search.neural.encoder_names import is_trained
from search.neural.sentence_models import sentence_model
from search.neural.threads import threads
from search.services.jobs.checkpoints import FileCheckpoints
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here
from search.services.knowledge.index_snapshot import build_index
from search.services.knowledge.releases import activate_release
from search.services.pipelines.delete_artifact import uses_of
from search.services.promote_result import made_by, promote_job
from search.services.searches.pin import PipelineChoice
from search.services.searches.pin_searches import pin_searches
from search.services.searches.request_search import request_search
from search.services.searches.run_search import ranking_of, run_search
from tests import tiny_models
from tests.oracle import Graph
from tests.search.services.knowledge.test_index_snapshot import snapshot_of
from training.data.examples import BadQuestions, Example
from training.learning.encoder import EncoderTask, LearnedEncoder
from training.learning.encoder_fit import EncoderFit, EncoderNet, weighted_cosines
from training.learning.encoder_lists import EncoderAsked, Texts
from training.learning.retriever import RetrieverLearner
from training.learning.stepwise import HowToStep, trainable
from training.learning.task import Material, TooFew
from training.services import train_documents
from training.services.cross_fitting import cross_fitted
from training.services.question_sets import register_questions
from training.services.train import train
from training.services.train_request import TrainRequest

pytestmark = pytest.mark.django_db
COUNT = 30
HOW = HowToStep(steps=6, batch=4, at_once=100, rate=0.01, warm=0.1, checks=2, seed=3, pause=0.0)
SETTINGS: dict[str, Any] = {
    "documents": "trained", "encoder_epochs": 12, "encoder_rate": 5e-3, "encoder_batch": 8, "tokens": 32, "hard": 1,
}  # fmt: skip


def graph() -> Graph:
    """Films whose text is a number, and streets that nothing asks for."""
    films = [
        Node(at, f"film/{at:02}", "film", f"w{at}", fields={"plot": f"the keeper of w{at}"}) for at in range(COUNT)
    ]
    streets = [Node(COUNT + at, f"street/{at:02}", "street", "amber street") for at in range(4)]
    return Graph((*films, *streets), tuple((at, "in", COUNT + at % 4) for at in range(COUNT)))


def examples() -> list[Example]:
    """The question of a film names another film: only who has learned it can know the answer."""
    return [
        Example(f"q{at}", f"who made w{(at + 7) % COUNT} ?", (f"film/{at:02}",), "train") for at in range(COUNT)
    ]  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with threads(1):
        yield


@pytest.fixture
def encoder_name(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A sentence model of two layers, in a folder."""
    folder = tmp_path_factory.mktemp("bert")
    tiny_models.bert(folder)
    SentenceTransformer(str(folder), device="cpu").save(str(folder / "sentence"))
    return str(folder / "sentence")


@pytest.fixture
def release(encoder_name: str, settings: Settings, tmp_path: Path) -> Iterator[Release]:
    """The active release of a knowledge base whose vectors the tiny model has made."""
    settings.GRASP_HOME = tmp_path / "home"
    settings.GRASP_ENCODER, settings.GRASP_ENCODERS = encoder_name, {encoder_name: {}}
    settings.GRASP_TOOLS = {
        **settings.GRASP_TOOLS,
        "encoder": {"BACKEND": "search.neural.encoders.cached_sentence_encoder", "OPTIONS": {"device": "cpu"}},
        "field_retrievers": {
            **settings.GRASP_TOOLS["field_retrievers"],
            "OPTIONS": {"directory": settings.GRASP_HOME / "artifacts"},
        },
    }
    wiring.forget()
    wiring.encoder.cache_clear()
    made = build_index(snapshot=snapshot_of(graph())).release
    activate_release(knowledge_base=made.knowledge_base, release=made)
    yield made
    wiring.forget()
    wiring.encoder.cache_clear()


@pytest.fixture
def material(release: Release) -> Material:
    tools = wiring.tools(release)
    made = examples()
    return Material(made, [np.array(tools.nodes.keys(one.answers), dtype=np.int32) for one in made], tools, {})


def fit(material: Material, run: RunContext | None = None, **settings: Any) -> LearnedEncoder:
    task = RetrieverLearner(**{**SETTINGS, **settings}).task(material)
    assert isinstance(task, EncoderTask)
    return task.fit(run or RunContext())


def trained(**settings: Any) -> dict[str, Any]:
    return train(kind="retriever", knowledge_base="films", examples=examples(), settings={**SETTINGS, **settings},
                 unproven=True)  # fmt: skip


def searched(question: str, pipeline: str = "vss") -> SearchRun:
    return run_search(request_search(knowledge_base="films", question=question, pipeline=pipeline, enqueue=False).pk)


# --------------------------------------------------------------------------------------------------- what is learned


def test_cosines_are_weighted_means_over_the_kinds_that_a_node_has() -> None:
    questions = torch.tensor([[1.0, 0.0]])
    documents = torch.tensor([[[0.6, 0.8], [1.0, 0.0]], [[0.0, 1.0], [9.0, 9.0]]])
    there = torch.tensor([[True, True], [True, False]])
    # Weights of 3/4 and 1/4: 0.75 x 0.6 + 0.25 x 1; the second node has only the first kind.
    found = weighted_cosines(torch.log(torch.tensor([3.0, 1.0])), questions, documents, there)
    torch.testing.assert_close(found, torch.tensor([[0.7, 0.0]]))


def fit_of(
    net: EncoderNet, material: Material, questions: list[EncoderAsked], how: HowToStep = HOW, **more: Any
) -> EncoderFit:
    texts = Texts(material.tools.nodes, net.kinds)
    figure = more.pop("figure", lambda: 1.0)
    return EncoderFit(net, questions, texts, how, 1, 0.05, more.pop("run", RunContext()), figure, "tiny")


def net_of(name: str, dropout: bool = False) -> EncoderNet:
    net = EncoderNet(sentence_model(name), ("name", "document+relations"), 32)
    return net.train(dropout)


def asked(count: int = 8) -> list[EncoderAsked]:
    return [
        EncoderAsked(f"q{at}", f"who made w{at} ?", (at,), ((at + 1) % COUNT, (at + 2) % COUNT), True)
        for at in range(count)
    ]


def test_the_loss_compares_an_answer_with_everything_in_the_batch_except_other_answers(
    encoder_name: str, material: Material
) -> None:
    """Against the same softmax written out by hand."""
    net = net_of(encoder_name)
    one, two = EncoderAsked("a", "who made w1 ?", (1, 2), (), True), EncoderAsked("b", "who made w2 ?", (2,), (), True)
    step = next(at for at in range(20) if one.drawn(0, np.random.default_rng([HOW.seed, 3, at])) == (1,))
    losses = fit_of(net, material, [one, two]).losses(step, [one, two], 100)
    texts = Texts(material.tools.nodes, net.kinds).of([1, 2], Limit())

    def vectors(said: list[str]) -> Tensor:
        with torch.no_grad():
            return net(net.read(said))

    questions = vectors([one.text, two.text])
    nodes = torch.stack([vectors(list(own)) for own in texts])
    cosines = torch.einsum("qd,nkd->qn", questions, nodes) / len(net.kinds) / 0.05
    # Node 2 is an answer of the first question, too: only node 1 is left for it, so its loss is 0.
    expected = [0.0, float(torch.nn.functional.cross_entropy(cosines[1:], torch.tensor([1])))]
    assert losses == pytest.approx(expected, abs=0.02)  # bfloat16 where the processor has it


def test_few_texts_at_once_give_the_gradient_of_all_at_once(encoder_name: str, material: Material) -> None:
    found = []
    for at_once in (100, 3):
        net = net_of(encoder_name)
        losses = fit_of(net, material, asked()).losses(0, asked()[:4], at_once)
        found.append((losses, {name: p.grad.clone() for name, p in trainable(net).items() if p.grad is not None}))
    (whole, expected), (parts, gradients) = found
    assert parts == pytest.approx(whole, abs=0.05)
    assert gradients.keys() == expected.keys()
    for name, gradient in expected.items():
        torch.testing.assert_close(gradients[name], gradient, atol=0.05, rtol=0.1)


def test_what_is_taught_is_learned(encoder_name: str, material: Material) -> None:
    net = net_of(encoder_name, dropout=True)
    end = fit_of(net, material, asked(), replace(HOW, steps=60, checks=1))()
    assert np.mean(end.curve[-10:]) < 0.7 * np.mean(end.curve[:10])


@pytest.mark.parametrize("method", ["whole", "lora"])
def test_an_encoder_is_trained_whole_or_by_adapters_and_measured_on_questions_that_were_held_out(
    material: Material, method: str
) -> None:
    learned = fit(material, method=method, rank=4, alpha=8)
    assert np.mean(learned.fitted.curve[-5:]) < np.mean(learned.fitted.curve[:5])
    assert (learned.counts["taught"], learned.counts["held_out"]) == (24, 6)
    assert learned.served["adapter"] == (method == "lora")
    assert ("adapter_model.safetensors" in learned.files) == (method == "lora")
    assert bool(learned.tensors) == (method == "whole")
    assert set(learned.before) == set(learned.after) == {"H@1", "H@5", "R@20", "MRR"}


def test_a_training_goes_on_to_the_same_curve_and_weights(material: Material, tmp_path: Path) -> None:
    """Dropout is on; the interrupted training is done by a new model and a new optimizer."""
    whole = fit(material, RunContext(checkpoints=FileCheckpoints(tmp_path / "whole")))
    points: list[int] = []

    def run(fence: int, cancelled: Any = lambda: False) -> RunContext:
        return RunContext(
            limit=Limit(cancelled=cancelled), checkpoints=FileCheckpoints(tmp_path / "parts", fence),
            metric=lambda name, step, value: points.append(step),
        )  # fmt: skip

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.learning.encoder.CHECKPOINT_SECONDS", 0.0)
        with pytest.raises((RunCancelled, SearchCancelled)):
            fit(material, run(1, lambda: len(points) > 15))
        assert 15 < len(points) < len(whole.fitted.curve)
        points.clear()
        again = fit(material, run(2))
    assert min(points) > 1  # It did not begin anew.
    np.testing.assert_allclose(again.fitted.curve, whole.fitted.curve, atol=1e-5)
    assert (again.fitted.checks, again.after) == (whole.fitted.checks, whole.after)
    for name, tensor in whole.tensors.items():
        np.testing.assert_allclose(again.tensors[name], tensor, atol=1e-5)


class Poor(EncoderNet):
    """An encoder on a device on which only few texts fit, and whose vectors are no numbers from its n-th call on."""

    fit_in, left = 1_000, 10_000

    def forward(self, tokens: Any) -> Tensor:
        if len(tokens) > self.fit_in:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        self.left -= 1
        found = super().forward(tokens)
        return found * float("nan") if self.left < 0 else found


def test_when_memory_ends_half_as_many_texts_are_computed_at_once(encoder_name: str, material: Material) -> None:
    log: list[str] = []
    net = Poor(sentence_model(encoder_name), ("name",), 32)
    net.fit_in = 4
    end = fit_of(net, material, asked(), replace(HOW, at_once=16), run=replace(RunContext(), log=log.append))()
    assert len(end.curve) == 6
    assert log == [f"Step 1: out of memory; from now on {count} texts at once." for count in (8, 4)]
    net.fit_in = 0
    with pytest.raises(StageError, match="not even one text of 32 tokens fits"):
        fit_of(net, material, asked())()


def test_a_loss_that_is_no_number_ends_at_the_last_good_checkpoint_and_names_the_batch(
    encoder_name: str, material: Material
) -> None:
    log: list[str] = []
    net = Poor(sentence_model(encoder_name), ("name",), 32)
    net.left = 4
    end = fit_of(net, material, asked(), run=replace(RunContext(), log=log.append))()
    assert (len(end.curve), end.best, log) == (4, 3, [end.stopped])
    assert end.stopped.startswith("Training stopped in step 5: the loss is nan, in the batch of the questions q")
    assert end.stopped.endswith("the weights of step 3 are kept.")


# ---------------------------------------------------------------------------------------------------------- bad input


def test_questions_whose_answers_are_never_found_are_refused_with_the_numbers(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.learning.encoder_lists.RETRIEVED", 1)
    # The nearest film is always another one than the answer, which is a street here.
    lost = replace(material, answers=[np.array([COUNT + 3], dtype=np.int32)] * COUNT)
    with pytest.raises(TooFew, match=r"Of 30 questions, 0 have an answer among the first .* results by words or by"):
        fit(lost)


def test_ten_questions_are_refused_with_the_number_that_it_takes(material: Material) -> None:
    few = replace(material, examples=material.examples[:10], answers=material.answers[:10])
    with pytest.raises(TooFew, match=r"it takes 20 of them, and there are 10 of 10 that people asked, and 0 of 0"):
        fit(few)


def test_few_questions_are_warned_of(material: Material) -> None:
    log: list[str] = []
    fit(material, replace(RunContext(), log=log.append), encoder_epochs=1)
    assert log[0] == "Only 24 questions teach the encoder; with fewer than 100, expect little."


def test_training_everything_refuses_a_new_encoder() -> None:
    with pytest.raises(InvalidRequest, match="A new encoder makes another release; train it by itself first"):
        TrainRequest("films", examples(), settings={"retriever.documents": "trained"}).check()


# ------------------------------------------------------------------------------------------- the release it is made for


@pytest.mark.parametrize("method", ["whole", "lora"])
def test_a_trained_encoder_makes_a_release_that_is_searched_with_it_and_can_be_left_again(
    release: Release, method: str
) -> None:
    report = trained(method=method, rank=4, alpha=8)
    base = KnowledgeBase.objects.get(name="films")
    made = base.active_release
    assert made is not None
    assert (made.name, report["new_release"], report["active"]) == ("films-2", "films-2", True)
    assert made.snapshot == release.snapshot
    assert made.vector_set is not None
    assert is_trained(made.vector_set.encoder)
    artifact = Artifact.objects.get(pk=report["artifact"])
    assert made.vector_set.encoder == f"{artifact.pk}@{artifact.content_hash}"
    assert {"README.md", "job.json", "files.json", "curve.json"} <= {one.name for one in artifact.directory.iterdir()}
    # The same texts have other vectors now, and a search compares the question by the new encoder.
    old, new = wiring.tools(release).encoder, wiring.tools(made).encoder
    question = examples()[0].text
    assert float(old.encode([question])[0] @ new.encode([question])[0]) < 0.999
    nodes = wiring.tools(made).nodes
    store = Texts(nodes, ("document+relations",)).of(range(COUNT + 4), Limit())
    vectors = new.encode([own[0] for own in store])
    cosines = vectors @ new.encode([question])[0]
    run = searched(question)
    assert run.status == "done"
    _, score = ranking_of(run)[0]
    assert score == pytest.approx(float(cosines.max()), abs=5e-3)
    activate_release(knowledge_base=base, release=release)
    again = searched(question)
    assert (again.status, again.release.name) == ("done", "films-1")
    assert uses_of(artifact) == ["the release films-2"]


def test_without_activation_the_release_waits(release: Release) -> None:
    report = train(
        kind="retriever", knowledge_base="films", examples=examples(), settings={**SETTINGS, "encoder_epochs": 1},
        activate=False,
    )  # fmt: skip
    assert (report["new_release"], report["active"]) == ("films-2", False)
    assert KnowledgeBase.objects.get(name="films").active_release == release


def rewritten(artifact: Artifact, name: str, content: bytes) -> str:
    """Write another file into an artifact with a manifest that fits, and return the content hash."""
    (artifact.directory / name).write_bytes(content)
    files = {one.name: one.read_bytes() for one in artifact.directory.iterdir() if one.name != MANIFEST}
    manifest = manifest_of(files)
    (artifact.directory / MANIFEST).write_bytes(manifest)
    return content_hash(manifest)


def test_changed_files_and_another_base_model_are_refused_by_name(
    release: Release,
) -> None:
    report = trained(encoder_epochs=1)
    artifact = Artifact.objects.get(pk=report["artifact"])
    weights = artifact.directory / "model.safetensors"

    def refused() -> str:
        wiring.forget()
        wiring.encoder.cache_clear()
        run = searched("who made w1 ?")
        assert run.status == "failed"
        return str(run.error["detail"])

    was = weights.read_bytes()
    weights.write_bytes(was[:-1] + b"\x01")
    assert "its file model.safetensors was changed after it was registered" in refused()
    found = rewritten(artifact, "model.safetensors", was[:-1] + b"\x01")
    assert f"its content hash is {found}, and {artifact.content_hash} was registered" in refused()
    weights.write_bytes(was)

    name = f"{artifact.pk}@{artifact.content_hash}"
    base = json.loads((artifact.directory / "config.json").read_bytes())["base"]
    model = SentenceTransformer(base, device="cpu")
    with torch.no_grad():
        next(model.parameters()).add_(1.0)
    model.save(base)
    rewritten(artifact, "model.safetensors", was)
    with pytest.raises(
        ValueError, match=rf"it changes weights of {base} with the hash \w+, and those on this machine have"
    ):
        sentence_model(name)


def test_what_has_learned_over_other_vectors_is_left_out_and_comes_back_with_them(release: Release) -> None:
    base = release.knowledge_base
    frozen: dict[str, Any] = {
        "kind": "retriever", "knowledge_base": "films", "examples": examples(),
        "settings": {"epochs": 2, "folds": 2, "batch": 8}, "unproven": True,
    }  # fmt: skip
    made = train(**frozen)
    before = PipelineVersion.objects.get(knowledge_base=base, active=True)
    assert before.options["retrieve.artifact"] == made["artifact"]
    trained(encoder_epochs=1)
    now = PipelineVersion.objects.get(knowledge_base=base, active=True)
    assert (now.options.get("retrieve.artifact"), now.options["retrieve"]) == (None, "mfar")
    assert now.note == f"Left out, because it has learned over other vectors: {made['artifact']}."
    assert searched("who made w1 ?", "grasp").status == "done"
    # What learns over the new vectors reads questions with the new encoder, and comes and goes with them.
    train(**frozen)
    later = PipelineVersion.objects.get(knowledge_base=base, active=True)
    run = searched("who made w1 ?", "grasp")
    assert [(step.status, step.detail) for step in run.steps.filter(name="retrieve")] == [("ok", "")]
    base.refresh_from_db()
    new = base.active_release
    assert new is not None
    for to, expected in ((release, before), (new, later), (release, before)):
        activate_release(knowledge_base=base, release=to)
        assert PipelineVersion.objects.get(knowledge_base=base, active=True) == expected


def test_nothing_measures_a_question_with_vectors_of_an_encoder_that_has_learned_from_it(release: Release) -> None:
    trained(encoder_epochs=1)
    pins = pin_searches(knowledge_base="films", pipelines=[PipelineChoice("vss")], settings={})
    unseen = Example("new", "who made w1 and w2 ?", ("film/01",), "train")
    crossed = cross_fitted(pins["vss"], [*examples(), unseen])
    assert crossed.seen == (True,) * COUNT + (False,)
    assert [pin is None for pin in crossed.pins] == [True] * COUNT + [False]


def test_a_release_without_vectors_has_none_that_could_be_trained(release: Release) -> None:
    bare = build_index(snapshot=snapshot_of(graph(), "bare"), embed=False).release
    activate_release(knowledge_base=bare.knowledge_base, release=bare)
    with pytest.raises(
        BadQuestions, match="bare-1 has no vectors that could be trained: index the knowledge base with vectors"
    ):
        train(kind="retriever", knowledge_base="bare", examples=examples(), settings=SETTINGS)


def test_when_indexing_is_interrupted_the_encoder_is_not_trained_again(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunContext()

    def killed(**_: Any) -> None:
        raise RunCancelled()

    arguments: dict[str, Any] = {
        "kind": "retriever", "knowledge_base": "films", "examples": examples(), "run": run,
        "settings": {**SETTINGS, "encoder_epochs": 1}, "unproven": True,
    }  # fmt: skip
    with monkeypatch.context() as patch:
        patch.setattr(train_documents, "build_index", killed)
        with pytest.raises(RunCancelled):
            train(**arguments)
    [artifact] = Artifact.objects.filter(kind="encoder")
    assert KnowledgeBase.objects.get(name="films").active_release == release
    report = train(**arguments)
    assert (report["artifact"], report["new_release"]) == (artifact.pk, "films-2")
    assert [one.pk for one in Artifact.objects.filter(kind="encoder")] == [artifact.pk]
    assert train(**arguments) == report


def test_a_job_trains_the_encoder_and_its_release_is_promoted(release: Release) -> None:
    register_questions(knowledge_base="films", examples=examples(), name="q")
    job, _ = launch_job(
        kind="train_retriever", knowledge_base="films", question_set="q", here=True,
        arguments={"settings": {**SETTINGS, "encoder_epochs": 1}, "activate": False},
    )  # fmt: skip
    expected = {part["name"] for part in job.progress["parts"]}
    told: set[str] = set()
    report = run_here(job, lambda part, done, total: told.add(part))
    assert {"questions", "learning", "Embedding texts"} <= told <= expected, told - expected
    assert (job.state, report["new_release"]) == ("done", "films-2")
    made = made_by(job)
    assert made is not None
    assert (made.name, made.active) == ("release films-2", False)
    promote_job(job, user=None)
    assert KnowledgeBase.objects.get(name="films").active_release == made.row
