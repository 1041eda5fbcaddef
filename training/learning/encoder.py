"""The retriever with `documents: trained`: the encoder of questions and documents learns (docs/retrieval.md).

Its result is an encoder. The vectors of a knowledge base are computed with it anew (training.services.train_documents).
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import torch
from sentence_transformers import SentenceTransformer

from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.domain.vector_kinds import CHUNK, COMPUTED
from search.neural.adapters import adapter_files, with_adapter
from search.neural.encoder_names import ENCODER, parts
from search.neural.sentence_models import (
    base_of,
    put_transformer,
    sentence_model,
    transformer_of,
    weights_hash,
)
from training.learning.devices import training_device
from training.learning.encoder_fit import EncoderFit, EncoderNet, ranks
from training.learning.encoder_lists import (
    RETRIEVED,
    EncoderAsked,
    Texts,
    asked_of,
    held_out,
    pool_of,
    refuse_unretrieved,
)
from training.learning.retriever_fitting import measures
from training.learning.retriever_settings import RetrieverSettings
from training.learning.stepwise import CHECKPOINT_SECONDS, Fitted, HowToStep
from training.learning.task import Evaluated, LearnedTask, Material, TooFew, TrainingCard

FEWEST, FEW = RetrieverSettings.FEWEST, 100
"""Fewest questions that a training accepts, and the number below which a warning says that little can be learned."""
MEASURED = 300
"""Held-out questions on which the encoder is measured, at most."""
CURVE = "curve.json"
Figures = Mapping[str, float]


@dataclass(frozen=True, eq=False)
class LearnedEncoder(LearnedTask):
    """The trained encoder, how the held-out questions were answered before and after, and how much there was of all."""

    fitted: Fitted
    before: Figures
    after: Figures
    counts: Mapping[str, int]


@dataclass(frozen=True, eq=False)
class EncoderTask:
    """The training of the encoder on given questions (task.LearningTask)."""

    learner: RetrieverSettings
    material: Material

    def describe(self) -> TrainingCard:
        """Describe the learner for the model card."""
        return TrainingCard(
            "Encoder of questions and documents",
            "It turns questions and the texts of nodes into vectors. It learns from questions and their answers: an "
            "answer is compared with the answers of other questions and with wrong results of the question's own "
            "searches by words and vectors (softmax cross-entropy over cosines). The vectors of a release are computed "
            "with it anew, and its questions are read by it.",
            "Held-out questions chose the checkpoint, so their figures are a little too high; answers are looked for "
            "among a part of the nodes. What else has learned over other vectors cannot be used with it.",
        )

    def fit(self, run: RunContext) -> LearnedEncoder:
        """Learn. Raises TooFew, with the numbers; RunCancelled, SearchCancelled, DeadlineExceeded, StageError."""
        learner = self.learner
        taught, asked = self._questions(run)
        if len(taught) < FEW:
            run.log(f"Only {len(taught)} questions teach the encoder; with fewer than {FEW}, expect little.")
        base = base_of(self.material.tools.encoder.name)
        net = self._net(base)
        before_training = {name: tensor.detach().cpu().clone() for name, tensor in net.body.named_parameters()}
        base_hash = weights_hash(sentence_model(base))
        texts = Texts(self.material.tools.nodes, net.kinds)
        pool = pool_of(asked, self.material.tools, learner)
        how = self._how(len(taught))

        def figures() -> Figures:
            return measures(ranks(net, asked, pool, texts, run))

        before = figures()
        net.train()
        fitted = EncoderFit(
            net, taught, texts, how, learner.hard, learner.temperature, run, lambda: figures()["MRR"],
            _checkpoint(learner, base, taught, how),
        )()  # fmt: skip
        net.eval()
        after = figures()
        counts = {"taught": len(taught), "held_out": len(asked), "among": len(pool)}
        tensors, files = self._files(net, base, before_training)
        curve = {"loss": fitted.curve, "held_out_mrr": fitted.checks, "kept_step": fitted.best}
        served = {
            "base": base, "base_model": parts(base)[0], "base_revision": parts(base)[1], "base_hash": base_hash,
            "adapter": learner.method == "lora", "kinds": list(net.kinds),
            "weights_of_kinds": torch.softmax(net.weigh.detach().cpu(), 0).tolist(), "folds": [],
        }  # fmt: skip
        return LearnedEncoder(tensors, served, {**files, CURVE: orjson.dumps(curve)}, fitted, before, after, counts)

    def evaluate(self, learned: LearnedEncoder, run: RunContext) -> Evaluated:
        """Return measures on held-out questions before and after, by the encoder's vectors alone."""
        table = {"before": learned.before, "after": learned.after}
        metrics: dict[str, Any] = {
            **learned.counts, "held_out_measures": table, "steps": len(learned.fitted.curve),
            "kept_step": learned.fitted.best, "stopped": learned.fitted.stopped,
        }  # fmt: skip
        return Evaluated(metrics, table)

    def _questions(self, run: RunContext) -> tuple[list[EncoderAsked], list[EncoderAsked]]:
        """Return the questions that are learned from, and those that are held out: real ones, if there are any."""
        material, learner = self.material, self.learner
        made = list(zip(material.synthesised, material.synthesised_answers, strict=True))[: learner.synthesised]
        total = len(material.examples) + len(made)
        real = asked_of(material.examples, material.answers, material.tools, learner.mined, run, 0, total)
        own = asked_of(
            [one for one, _ in made], [keys for _, keys in made], material.tools, learner.mined, run,
            len(material.examples), total,
        )  # fmt: skip
        first = f"the first {RETRIEVED} results by words or by vectors"
        refuse_unretrieved(sum(one.retrieved for one in real), len(real), first)
        refuse_unretrieved(sum(one.retrieved for one in own), len(own), first)
        if len(real) + len(own) < FEWEST or 0 < len(real) < FEWEST:
            raise TooFew(
                f"An encoder learns from questions that have an answer whose type may be one; it takes {FEWEST} of "
                f"them, and there are {len(real)} of {len(material.examples):,} that people asked, and {len(own)} of "
                f"{len(made):,} synthesised ones."
            )
        judged = real or own
        out = held_out(judged, learner)
        kept = [one for one, is_out in zip(judged, out, strict=True) if not is_out]
        asked = [one for one, is_out in zip(judged, out, strict=True) if is_out][:MEASURED]
        return [*kept, *(own if real else [])], asked

    def _net(self, base: str) -> EncoderNet:
        """Return the untrained encoder on its device, with the parameters that are trained marked.

        Raises StageError when the encoder's model cannot be trained on this machine.
        """
        learner = self.learner
        try:
            body = copy.deepcopy(sentence_model(base))
            transformer: Any = transformer_of(body)
        except (OSError, ValueError) as error:
            reason = f"the encoder {base} has no model that can be trained ({error})"
            raise StageError("retriever", reason, permanent=True) from error
        if learner.method == "lora":
            adapted = with_adapter(transformer, learner.rank, learner.alpha, 0.0, causal=False, seed=learner.seed)
            put_transformer(body, adapted)
        else:
            # A few hundred questions hold few of the words, so the vectors of words stay; they are half of the weights.
            transformer.get_input_embeddings().requires_grad_(False)
        # A computed kind has no text; a chunk is a part of what the others hold.
        kinds = [kind for kind in kinds_of(self.material) if kind != CHUNK and kind not in COMPUTED]
        net: EncoderNet = EncoderNet(body, kinds, learner.tokens).to(training_device(learner.device, "retriever"))
        return net

    def _how(self, questions: int) -> HowToStep:
        """Return the settings of a fit on this number of questions."""
        learner = self.learner
        batch = min(learner.encoder_batch, questions)
        steps = max(1, min(learner.steps, -(-learner.encoder_epochs * questions // batch)))
        checks = min(learner.checks, steps)
        return HowToStep(
            steps,
            batch,
            learner.texts,
            learner.encoder_rate,
            0.1,
            checks,
            learner.seed,
            CHECKPOINT_SECONDS,
        )

    def _files(
        self, net: EncoderNet, base: str, before: Mapping[str, torch.Tensor]
    ) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Return what training has changed: differences of parameters in half precision, or the files of an adapter."""
        body: SentenceTransformer = net.body
        if self.learner.method == "lora":
            adapted: Any = transformer_of(body)
            return {}, adapter_files(adapted, base)
        own = {name: tensor for name, tensor in body.named_parameters() if tensor.requires_grad}
        return {name: (own[name].detach().cpu() - before[name]).half().numpy() for name in own}, {}


def kinds_of(material: Material) -> list[str]:
    """Return the kinds of vectors of the release, sorted."""
    return sorted(material.tools.vectors.kinds)


def _checkpoint(learner: RetrieverSettings, base: str, taught: Sequence[EncoderAsked], how: HowToStep) -> str:
    """Return the name of a fit's checkpoint; other questions, negatives or settings give another name."""
    content = hashlib.blake2b(repr((asdict(learner), base, how)).encode(), digest_size=8)
    for one in taught:
        content.update(repr((one.text, one.answers, one.negatives)).encode())
    return f"{ENCODER}-{content.hexdigest()}"
