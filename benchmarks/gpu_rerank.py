"""Achieved against measured peak matrix rate of scoring 100 × 1,024 tokens in Qwen3-Reranker-0.6B's shape.

The weights are random. Without a GPU it says that nothing was measured, and runs a tiny shape as a check.
`python -m benchmarks.gpu_rerank` needs no services.
"""

from __future__ import annotations

import torch

from benchmarks.common import show, table
from benchmarks.gpu import QWEN, TINY, RandomReranker, device, name_of, operations, peak, seconds_of
from search.neural.pair_model import TOKENS_A_BATCH, Pair, batches


def main() -> None:
    """Print seconds, achieved and peak rate, and their ratio."""
    where = device()
    shape = QWEN if where == "cuda" else TINY
    show(f"Device: {name_of(where)}.")
    model = RandomReranker(shape, where, torch.bfloat16).eval()
    highest = shape.config.get_text_config().vocab_size
    drawn = torch.randint(5, highest, (shape.pairs, shape.tokens)).tolist()
    pairs = [Pair(tuple(row), 10) for row in drawn]

    def scored() -> None:
        with torch.inference_mode():
            for batch in batches([len(pair.ids) for pair in pairs], TOKENS_A_BATCH[where]):
                model([pairs[at] for at in batch]).cpu()

    seconds = seconds_of(scored, where)
    achieved, best = operations(shape, model) / seconds, peak(where)
    rows = [
        (shape.name, f"{shape.pairs} × {shape.tokens:,}", f"{1000 * seconds:,.1f}", f"{achieved / 1e12:,.2f}",
         f"{best / 1e12:,.2f}", f"{100 * achieved / best:.1f} %" if where == "cuda" else "unmeasured")
    ]  # fmt: skip
    columns = ("shape", "documents × tokens", "ms", "achieved TFLOP/s", "peak TFLOP/s", "achieved / peak")
    table("Reranking in bfloat16, random weights", columns, rows)


if __name__ == "__main__":
    main()
