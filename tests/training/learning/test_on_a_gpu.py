"""Trainings on a GPU, which is pretended (tests/pretend_gpu.py), and on a CPU beside a GPU that stays closed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pytest_django.fixtures import Settings

from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.neural.cross_encoder import cross_encoder
from search.neural.field_retriever import RetrieverShape, base_tower, new_net, on_device
from search.neural.site_encoders import encoder as site_encoder
from tests import tiny_models
from tests.pretend_gpu import no_gpu_touched, pretended
from tests.training.learning.test_reranker_fit import HOW, Texts, questions
from tests.training.learning.test_retriever import fit, material  # noqa: F401
from training.learning import retriever_fit
from training.learning.devices import training_device
from training.learning.reranker_fit import Fit

pytestmark = pytest.mark.django_db
SMALL: dict[str, Any] = {"epochs": 1, "folds": 2, "batch": 20}


def devices_of_base() -> set[str]:
    """Return the devices of the encoder's model that all retrievers share."""
    return {parameter.device.type for parameter in base_tower(site_encoder().name).parameters()}


def test_what_a_net_on_a_gpu_has_learned_is_kept_as_the_difference_from_the_shared_model_on_the_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, shape = site_encoder().name, RetrieverShape(("name",), ("name",), ("film",), (1.0,))
    net = new_net(name, shape)
    with pretended(monkeypatch):
        moved = on_device(net, "cuda")
        assert {parameter.device.type for parameter in moved.parameters()} == {"cuda"}
        with torch.no_grad():
            for parameter in moved.learnable(1)[0]:
                parameter.add_(0.5)
        kept = moved.changed(base_tower(name), 1)
        assert devices_of_base() == {"cpu"}
    tower = {key: tensor for key, tensor in kept.items() if key.startswith("tower.")}
    assert tower
    assert all(tensor == pytest.approx(0.5, abs=1e-3) for tensor in tower.values())


@pytest.mark.parametrize("own_tower", [True, False])
def test_a_net_on_another_device_is_a_copy_of_its_own(own_tower: bool) -> None:
    shape = RetrieverShape(("name",), ("name",), ("film",), (1.0,))
    net = new_net(site_encoder().name, shape, own_tower=own_tower)
    moved = on_device(net, "meta")
    assert {parameter.device.type for parameter in moved.parameters()} == {"meta"}
    assert {parameter.device.type for parameter in net.parameters()} == devices_of_base() == {"cpu"}
    assert on_device(net, "cpu") is net


def test_when_memory_ends_a_retriever_learns_from_fewer_questions_at_once(
    material: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scores_of, largest = retriever_fit.scores_of, []

    def cramped(queries: Any, dense: Any, nodes: Any, entries: Any) -> torch.Tensor:
        if len(queries.weights) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        largest.append(len(queries.weights))
        return scores_of(queries, dense, nodes, entries)

    monkeypatch.setattr(retriever_fit, "scores_of", cramped)
    learned = fit(material, **SMALL)
    assert max(largest) == 3
    assert all(np.isfinite(tensor).all() for tensor in learned.tensors.values())

    def nothing_fits(*_: Any) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(retriever_fit, "scores_of", nothing_fits)
    with pytest.raises(StageError, match="memory of the device does not suffice for the scores of all nodes for one"):
        fit(material, **SMALL)


def test_a_site_on_the_cpu_trains_on_the_cpu_and_opens_no_gpu(
    material: Any,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    settings.GRASP_DEVICE = "cpu"
    with no_gpu_touched(monkeypatch):
        fit(material, layers=1, **SMALL)
        with pytest.raises(StageError, match=r"this site computes on cpu \(GRASP_DEVICE\)"):
            fit(material, **SMALL, device="cuda")


def test_a_reranker_is_trained_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = cross_encoder(tiny_models.bert(tmp_path), 32, device="cpu").train()
    with pretended(monkeypatch):
        fitted = Fit(model.to("cuda:0"), questions(), Texts(), HOW, RunContext(), lambda: 1.0, "tiny")()
        assert {parameter.device.type for parameter in model.parameters()} == {"cuda"}
    assert np.isfinite(fitted.curve).all()
    assert len(fitted.curve) == HOW.steps


CHOSEN = (
    ("auto", "auto", "cuda"), ("cpu", "auto", "cpu"), ("cuda", "auto", "cuda"), ("cuda:1", "auto", "cuda:1"),
    ("auto", "cpu", "cpu"), ("cuda", "cpu", "cpu"), ("auto", "cuda", "cuda"), ("cuda:1", "cuda", "cuda:1"),
)  # fmt: skip


@pytest.mark.parametrize(("site", "wanted", "expected"), CHOSEN)
def test_the_device_of_a_training_is_the_site_s_unless_it_names_another(
    site: str, wanted: str, expected: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GRASP_DEVICE = site
    with pretended(monkeypatch):
        assert training_device(wanted, "training") == expected


@pytest.mark.parametrize(
    ("site", "wanted", "advice"), [("cuda", "auto", "device=cpu"), ("auto", "cuda", "auto or cpu")]
)
def test_a_gpu_that_is_not_there_is_a_sentence(
    site: str, wanted: str, advice: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.GRASP_DEVICE = site
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(StageError, match=f"there is no GPU on this machine; set .*{advice}"):
        training_device(wanted, "training")
