"""Training of a causal reranker with LoRA, by the code of `train reranker`: Gemma 3 270M's shape, 24 × 1,024 tokens.

Without a GPU it says that nothing was measured, and trains a tiny shape as a check. `python -m benchmarks.gpu_train`
needs no services.
"""

from __future__ import annotations

import math

import torch

from benchmarks.common import show, table
from benchmarks.gpu import GEMMA, TINY, RandomReranker, device, name_of, operations, peak, seconds_of
from search.neural.adapters import with_adapter
from search.neural.pair_model import Pair
from training.learning.reranker_fit import backward
from training.learning.stepwise import trainable

RANK, ALPHA = 32, 64
PASSES = 2.0
"""Work of a step in forward passes: one forward, and one backward for activations; frozen weights get no gradient."""


def main() -> None:
    """Print seconds of a step, documents a second, achieved and peak rate, and the loss before and after."""
    where = device()
    shape = GEMMA if where == "cuda" else TINY
    show(f"Device: {name_of(where)}.")
    model = RandomReranker(shape, where, torch.bfloat16 if where == "cuda" else torch.float32)
    work = PASSES * operations(shape, model)
    model.body = with_adapter(model.body, RANK, ALPHA, 0.0, causal=True, seed=0).to(where)
    model.train()
    weights = trainable(model)
    optimizer = torch.optim.AdamW(list(weights.values()), lr=1e-3)
    highest = shape.config.get_text_config().vocab_size
    torch.manual_seed(1)
    pairs = [Pair(tuple(row), 10) for row in torch.randint(5, highest, (shape.pairs, shape.tokens)).tolist()]
    losses: list[float] = []

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        losses.append(backward(model, pairs, shape.pairs, 0, 1.0))
        optimizer.step()

    seconds = seconds_of(step, where)
    achieved, best = work / seconds, peak(where)
    rows = [
        (shape.name, f"{shape.pairs} × {shape.tokens:,}", f"{1000 * seconds:,.1f}", f"{shape.pairs / seconds:,.0f}",
         f"{achieved / 1e12:,.2f}", f"{best / 1e12:,.2f}",
         f"{100 * achieved / best:.1f} %" if where == "cuda" else "unmeasured",
         f"{losses[0]:.2f} → {losses[-1]:.2f} (guessing: {math.log(shape.pairs):.2f})")
    ]  # fmt: skip
    columns = ("shape", "group × tokens", "ms a step", "documents/s", "TFLOP/s", "peak", "achieved / peak", "loss")
    table(f"Listwise training with LoRA, rank {RANK}, random weights", columns, rows)


if __name__ == "__main__":
    main()
