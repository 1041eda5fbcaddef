"""The learned reranker (docs/reranking.md): what a search finds, ordered by a model that reads it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import torch

from search.artifact_files import SCORE_TEMPLATE
from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.neural.adapters import adapter_files, with_adapter
from search.neural.causal_scorer import CausalReranker, causal_reranker
from search.neural.cross_encoder import cross_encoder
from search.neural.encoder_names import full_name, parts
from search.neural.pair_model import PairModel
from search.text import DocumentForm
from training.learning.devices import training_device
from training.learning.reranker_fit import Fit, HowToFit
from training.learning.reranker_lists import FEW, CandidateList, Documents, collect, held_out
from training.learning.reranker_quality import Mix, Ordered, best_mix, figures, ordered
from training.learning.reranker_settings import CAUSAL, PACKAGED, RerankerSettings
from training.learning.stepwise import Fitted
from training.learning.task import Evaluated, LearnedTask, Material, TrainingCard

CURVE = "curve.json"
"""File of the artifact: the loss of each step and the checks."""


@dataclass(frozen=True)
class RerankerLearner(RerankerSettings):
    """Learns to order what searches find."""

    def task(self, material: Material) -> RerankerTask:
        """Return the training task."""
        return RerankerTask(self, material)

    @property
    def base_model(self) -> str:
        """The name of the model that is trained. Raises StageError if a language model is not named."""
        if not self.model and self.base == CAUSAL:
            reason = "the base `causal` takes the setting `model`: a folder, a .gguf file, or name@revision"
            raise StageError("training", reason, permanent=True)
        return self.model or full_name(PACKAGED)

    def fit_of(self, questions: int) -> HowToFit:
        """Return the settings of a fit on this number of questions."""
        steps = max(1, min(self.steps, -(-self.epochs * questions // self.batch)))
        checks = min(self.checks, steps)
        return HowToFit(steps, self.batch, self.group, self.pairs, self.rate, self.warm, checks, self.seed)


@dataclass(frozen=True, eq=False)
class LearnedReranker(LearnedTask):
    """The trained model as files, and how it and the search before it ordered the held-out questions."""

    fitted: Fitted
    before: Sequence[Ordered]
    after: Sequence[Ordered]
    mix: Mix
    counts: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class RerankerTask:
    """The training of the reranker on given questions (task.LearningTask)."""

    learner: RerankerLearner
    material: Material

    def describe(self) -> TrainingCard:
        """Describe the learner for the model card."""
        return TrainingCard(
            "Reranker",
            "It reads a question together with each of the first candidates of a search and orders them. It learns "
            "from questions and their answers: in each step, an answer that the search found is compared with the "
            "hardest candidates that are none (listwise softmax cross-entropy). Candidates come from searches with "
            "models that have not learned from the question.",
            "Held-out questions chose the checkpoint and the weight of the fusion, so their figures are a little too "
            "high. It has kept no model without a part of its questions, so it says nothing about them.",
        )

    def fit(self, run: RunContext) -> LearnedReranker:
        """Learn. Raises TooFew, with the numbers; RunCancelled, SearchCancelled, DeadlineExceeded, StageError."""
        learner = self.learner
        lists = collect(self.material, learner, run)
        out = held_out(lists, learner)
        taught = [one for one, is_out in zip(lists, out, strict=True) if not is_out and one.teaches]
        asked = [one for one, is_out in zip(lists, out, strict=True) if is_out][: learner.measured]
        if len(taught) < FEW:
            run.log(f"Only {len(taught)} questions teach the reranker; with fewer than {FEW}, expect little.")
        model = self._model()
        documents = Documents(self.material.tools.nodes, DocumentForm(learner.field_words, learner.names))
        how = learner.fit_of(len(taught))

        measured: list[Sequence[Ordered]] = []

        def order() -> Sequence[Ordered]:
            return ordered(model, asked, documents, learner.reranked, run)

        def figure() -> float:
            measured[:] = [order()]
            return figures(measured[-1])["MRR"]

        before = order()
        model.train()
        fitted = Fit(model, taught, documents, how, run, figure, _checkpoint(learner, lists, how))()
        model.eval()
        # The kept weights were measured, and the last measured ones usually are the best.
        after = measured[-1] if measured and fitted.best == fitted.checks[-1][0] else order()
        counts = {"questions": len(lists), "taught": len(taught), "held_out": len(asked)}
        mix = best_mix(after)
        tensors, files = _files(model, learner)
        curve = {"loss": fitted.curve, "held_out_mrr": fitted.checks, "kept_step": fitted.best}
        return LearnedReranker(
            tensors, self._served(mix), {**files, CURVE: orjson.dumps(curve)}, fitted, before, after, mix, counts
        )

    def evaluate(self, learned: LearnedReranker, run: RunContext) -> Evaluated:
        """Return measures on held-out questions: the search alone, the untrained and the trained model, the fusion."""
        table = {
            "search": figures(learned.after, Mix(0.0, 1.0)),
            "untrained reranker alone": figures(learned.before),
            "reranker alone": figures(learned.after),
            f"both (weight {learned.mix.weight:g}, k {learned.mix.k:g})": figures(learned.after, learned.mix),
        }
        metrics: dict[str, Any] = {
            **learned.counts, "held_out_measures": table, "mix": asdict(learned.mix),
            "steps": len(learned.fitted.curve), "kept_step": learned.fitted.best, "stopped": learned.fitted.stopped,
        }  # fmt: skip
        return Evaluated(metrics, table)

    def _model(self) -> PairModel:
        """Return the untrained model on its device, in float32, with the parameters that are trained marked."""
        learner = self.learner
        device = training_device(learner.device, "training")
        causal = learner.base == CAUSAL
        make = causal_reranker if causal else cross_encoder
        model: Any = make(learner.base_model, learner.tokens, device="cpu")
        if learner.method == "lora":
            model.body = with_adapter(
                model.body, learner.rank, learner.alpha, learner.dropout, causal=causal, seed=learner.seed
            )
        else:
            # A few hundred questions hold few of the words, so the vectors of words stay; they are half of the weights.
            model.body.get_input_embeddings().requires_grad_(False)
        on_device: PairModel = model.to(device)
        return on_device

    def _served(self, mix: Mix) -> dict[str, Any]:
        """Return the description that `search.neural.scorers` reads together with the weights."""
        learner = self.learner
        name, revision = parts(learner.base_model)
        return {
            "base_model": name,
            "base_revision": revision,
            "base": learner.base,
            "model": learner.base_model,
            "tokens": learner.tokens,
            "document": DocumentForm(learner.field_words, learner.names).to_json(),
            "adapter": learner.method == "lora",
            "mix": asdict(mix),
            "folds": [],
        }


def _files(model: PairModel, learner: RerankerLearner) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the tensors of the artifact in half precision, and the files of the adapter if there is one."""
    files: dict[str, bytes] = {}
    state = model.state_dict()
    if learner.method == "lora":
        body: Any = model.body
        files = adapter_files(body, learner.base_model)
        if isinstance(model, CausalReranker):
            files[SCORE_TEMPLATE] = model.score_template().encode()
        state = {name: tensor for name, tensor in state.items() if not name.startswith("body.")}
    kept = {name: tensor.detach().cpu() for name, tensor in state.items()}
    half = {
        name: (tensor.to(torch.float16) if tensor.is_floating_point() else tensor).numpy()
        for name, tensor in kept.items()
    }
    return half, files


def _checkpoint(learner: RerankerLearner, lists: Sequence[CandidateList], how: HowToFit) -> str:
    """Return the name of a fit's checkpoint; other questions, candidates or settings give another name."""
    content = hashlib.blake2b(repr((asdict(learner), how)).encode(), digest_size=8)
    for one in lists:
        content.update(repr((one.text, one.head, one.positives, one.negatives)).encode())
    return f"reranker-{content.hexdigest()}"
