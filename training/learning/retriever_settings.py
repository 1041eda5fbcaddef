"""The settings of the learned retriever of fields, in a module that loads no model library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from search.domain.errors import Fault
from search.domain.options import option
from training.learning.enough import too_few

FROZEN, TRAINED = "frozen", "trained"
LAYERS = 6
"""Layers that learn where synthesised questions do, alone or before real ones: thousands of them do not overfit."""


@dataclass(frozen=True)
class RetrieverSettings:
    """The settings of a training of the retriever of fields."""

    FEWEST: ClassVar[int] = 20
    """Questions with answers that a training takes at least."""
    FEWEST_ALONE: ClassVar[int] = 200
    """Synthesised questions that maps and types take at least where there are no others; an encoder takes FEWEST."""

    documents: str = option(
        FROZEN,
        "frozen: the documents' vectors stay, and questions learn to be read; trained: the encoder of both learns, and "
        "all vectors are computed anew, for a new release.",
        choices=(FROZEN, TRAINED),
    )
    folds: int = option(5, "Parts that each are searched by what was learned from the others.", low=2, high=20)
    apart: bool = option(
        False, "Keep questions about the same part of the graph in the same fold, so that the folds are as new to each "
        "other as new questions are.",
    )  # fmt: skip
    epochs: int = option(
        20, "Most passes over the real questions; the folds decide how many are best.", low=1, high=200
    )
    patience: int = option(5, "Passes without a better result on the folds after which none follows.", low=1, high=200)
    passes: int = option(2, "Passes over the synthesised questions, before the real ones.", low=0, high=100)
    synthesised: int = option(8_000, "Synthesised questions at most.", low=0, high=1_000_000)
    steps: int = option(600, "Steps at most: many questions are passed over less often.", low=1, high=1_000_000)
    batch: int = option(32, "Questions a step.", low=1, high=4096)
    rate: float = option(
        1e-3, "Height of the learning rate of the maps and types; half for real questions after synthesised ones.",
        low=1e-7, high=1.0,
    )  # fmt: skip
    weight_rate: float = option(
        1e-2, "The same of the weights of the lists, which would hardly move in some hundred steps otherwise.",
        low=1e-7, high=1.0,
    )  # fmt: skip
    layers: int = option(
        -1, "Last layers of the encoder's model that are trained, too; -1: six where synthesised questions are learned "
        "from, alone or before real ones, which takes ten times as long; none where all are real.", low=-1, high=100,
    )  # fmt: skip
    layer_rate: float = option(5e-5, "Height of the learning rate of these layers.", low=1e-8, high=1.0)
    nodes: int = option(
        50_000,
        "Up to this number of nodes the loss is over all of them, above over a sample.",
        low=100,
        high=10_000_000,
    )
    sample: int = option(
        8_192, "Nodes of such a sample, drawn at random, beside each list's best.", low=0, high=1_000_000
    )
    dropout: float = option(
        0.2, "Share of the question's vector that the maps and weights do not see in a step.", low=0, high=0.9
    )
    seeds: int = option(
        1, "Retrievers that learn side by side with different seeds; a search uses the mean of their scores, which "
        "takes no longer.", low=1, high=20,
    )  # fmt: skip
    seed: int = option(0, "Decides the folds, the order of the questions and the samples.", low=0, high=2**31 - 20)
    device: str = option(
        "auto", "Where it is trained: auto takes a GPU if there is one.", choices=("auto", "cpu", "cuda")
    )
    method: str = option(
        "whole", "Documents trained: whole trains all layers; lora trains low-rank adapters beside them.",
        choices=("whole", "lora"),
    )  # fmt: skip
    rank: int = option(32, "Method lora: rank of the adapters.", low=1, high=512)
    alpha: int = option(64, "Method lora: factor of the adapters, divided by their rank.", low=1, high=4096)
    temperature: float = option(
        0.05, "Documents trained: cosines are divided by it before the softmax.", low=1e-3, high=1.0
    )
    encoder_batch: int = option(
        16, "Documents trained: questions a step; the answers of the others are negatives.", low=2, high=4096
    )
    encoder_epochs: int = option(
        3, "Documents trained: passes over the questions, if `steps` allows so many.", low=1, high=200
    )
    encoder_rate: float = option(3e-5, "Documents trained: height of the learning rate.", low=1e-8, high=1.0)
    hard: int = option(2, "Documents trained: hard negatives of each question in a step.", low=0, high=100)
    mined: int = option(
        30, "Documents trained: first wrong results of a question that hard negatives are drawn from.",
        low=1, high=1_000,
    )  # fmt: skip
    tokens: int = option(128, "Documents trained: largest length of a text in training, in tokens.", low=8, high=8192)
    texts: int = option(
        64, "Documents trained: texts that are computed at once; fewer need less memory.", low=1, high=100_000
    )
    held_out: float = option(
        0.2, "Documents trained: part of the questions that is held out; it chooses the checkpoint.", low=0.05, high=0.5
    )
    checks: int = option(3, "Documents trained: how often it is measured; the best is kept.", low=1, high=1_000)
    measured_nodes: int = option(
        1_000, "Documents trained: nodes among which held-out answers are looked for.", low=10, high=1_000_000
    )

    def layers_for(self, synthesised: int) -> int:
        """Return how many layers are trained with this number of synthesised questions."""
        return self.layers if self.layers >= 0 else LAYERS if synthesised else 0

    def too_few(self, real: int, synthesised: int) -> Fault | None:
        """Return what is missing to learn from so many questions of people and synthesised ones; None if nothing is."""
        alone = self.FEWEST if self.documents == TRAINED else self.FEWEST_ALONE
        if not real and synthesised >= alone > self.synthesised:
            message = f"synthesised is {alone} at least where there are no other questions, not {self.synthesised}."
            return Fault("/settings/synthesised", message)
        if not real and synthesised >= alone and self.documents == FROZEN and not self.passes:
            return Fault("/settings/passes", "passes is 1 at least where there are only synthesised questions.")
        return too_few(real, synthesised, self.FEWEST, alone)
