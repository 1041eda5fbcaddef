"""The settings of the reranker's training, in a module that loads no model library, so that every door can check them.

Defaults follow GRASP (section on reranking), except the rate, the batch and the length of a document: they suit a small
encoder that is trained whole on a CPU.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from search.domain.errors import Fault
from search.domain.options import option
from training.learning.enough import too_few

CROSS_ENCODER, CAUSAL = "cross-encoder", "causal"
PACKAGED = "all-MiniLM-L6-v2"


@dataclass(frozen=True)
class RerankerSettings:
    """The settings of a training of the reranker."""

    FEWEST: ClassVar[int] = 20
    """Questions with answers that a training takes at least."""
    FEWEST_ALONE: ClassVar[int] = FEWEST
    """Synthesised questions that it takes at least where there are no others."""

    base: str = option(CROSS_ENCODER, "What reads question and document.", choices=(CROSS_ENCODER, CAUSAL))
    model: str = option(
        "", f"The model: a folder, a .gguf file, or name@revision on the hub. Empty: {PACKAGED}, for a cross-encoder."
    )
    method: str = option(
        "whole", "whole trains all layers; lora trains low-rank adapters beside them.", choices=("whole", "lora")
    )
    rank: int = option(32, "Method lora: rank of the adapters.", low=1, high=512)
    alpha: int = option(64, "Method lora: factor of the adapters, divided by their rank.", low=1, high=4096)
    dropout: float = option(0.0, "Method lora: dropout of the adapters.", low=0.0, high=0.9)
    tokens: int = option(192, "Largest length of a question with its document, in tokens.", low=16, high=32_768)
    field_words: int = option(225, "Words of each field that are read.", low=1, high=10_000)
    names: int = option(10, "Names of neighbours over each relation that are read.", low=0, high=1_000)
    depth: int = option(100, "First candidates of a search that are looked at.", low=2, high=1_000)
    negatives: int = option(30, "First candidates without an answer that are kept.", low=1, high=1_000)
    group: int = option(24, "Candidates that are compared in one step, one of them an answer.", low=2, high=1_001)
    epochs: int = option(2, "Passes over the questions, if `steps` allows so many.", low=1, high=200)
    steps: int = option(1_000, "Steps at most.", low=1, high=1_000_000)
    batch: int = option(4, "Questions a step; their gradients are added up.", low=1, high=4096)
    pairs: int = option(
        0, "Candidates that are computed at once; 0: all of a question. Fewer need less memory.", low=0, high=100_000
    )
    rate: float = option(0.0001, "Height of the learning rate; it falls along a cosine.", low=1e-7, high=1.0)
    warm: float = option(0.05, "Part of the steps in which the learning rate rises.", low=0.0, high=1.0)
    held_out: float = option(
        0.2, "Part of the questions that are held out; they choose the checkpoint and the fusion.", low=0.05, high=0.5
    )
    reranked: int = option(30, "First candidates that are reranked when it is measured.", low=2, high=1_000)
    measured: int = option(100, "Held-out questions on which it is measured.", low=1, high=100_000)
    checks: int = option(4, "How often it is measured; the best checkpoint is kept.", low=1, high=1_000)
    device: str = option("auto", "Where it is trained; auto: a GPU if there is one.", choices=("auto", "cpu", "cuda"))
    seed: int = option(0, "Decides held-out questions, order and drawn candidates.", low=0, high=2**31 - 1)

    def too_few(self, real: int, synthesised: int) -> Fault | None:
        """Return what is missing to learn from so many questions of people and synthesised ones; None if nothing is."""
        return too_few(real, synthesised, self.FEWEST, self.FEWEST_ALONE)
