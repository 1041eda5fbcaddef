"""What the benchmarks of GPUs share: the device, its measured peak of matrix products, and causal models by shape."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AutoModelForCausalLM, Gemma3TextConfig, PreTrainedConfig, Qwen3Config

from search.neural.causal_scorer import CausalReranker

MATRIX = {"cuda": 8192, "cpu": 512}
"""Rows and columns of the matrices whose product shows the peak, by device."""
ROUNDS = 10


@dataclass(frozen=True)
class Shape:
    """A model's shape. `pairs` × `tokens` are scored in one go."""

    name: str
    config: PreTrainedConfig
    pairs: int
    tokens: int


QWEN = Shape(
    "Qwen3-Reranker-0.6B",
    Qwen3Config(
        vocab_size=151_936, hidden_size=1024, num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
        head_dim=128, intermediate_size=3072, max_position_embeddings=32_768, tie_word_embeddings=True,
    ),
    100,
    1024,
)  # fmt: skip
GEMMA = Shape(
    "Gemma 3 270M",
    Gemma3TextConfig(
        vocab_size=262_144, hidden_size=640, num_hidden_layers=18, num_attention_heads=4, num_key_value_heads=1,
        head_dim=256, intermediate_size=2048, max_position_embeddings=32_768, sliding_window=512,
    ),
    24,
    1024,
)  # fmt: skip
TINY = Shape(
    "a tiny Qwen3",
    Qwen3Config(
        vocab_size=500, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
        intermediate_size=128, max_position_embeddings=512, tie_word_embeddings=True,
    ),
    6,
    48,
)  # fmt: skip


class RandomReranker(CausalReranker):
    """A causal reranker of a shape, with random weights and no tokenizer."""

    def __init__(self, shape: Shape, device: str, dtype: torch.dtype) -> None:
        super(CausalReranker, self).__init__(_Padding(), shape.tokens)
        torch.manual_seed(0)
        self.body = AutoModelForCausalLM.from_config(shape.config, dtype=dtype).to(device)
        self.yes, self.no = 3, 4


class _Padding:
    """The part of a tokenizer that a forward pass reads."""

    pad_token_id = 0


def device() -> str:
    """Return cuda if torch can use a GPU, else cpu."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def name_of(where: str) -> str:
    """Return the device's name for people."""
    if where == "cuda":
        return str(torch.cuda.get_device_name())
    return "no GPU on this machine: unmeasured; the CPU does tiny sizes, as a check that the script runs"


def seconds_of(work: Callable[[], object], where: str, rounds: int = ROUNDS) -> float:
    """Return the shortest duration of `work` in seconds, after one round to warm up."""
    times = []
    for _ in range(rounds + 1):
        _wait(where)
        began = time.perf_counter()
        work()
        _wait(where)
        times.append(time.perf_counter() - began)
    return min(times[1:])


def peak(where: str) -> float:
    """Return the measured rate of products of square matrices in bfloat16, in floating point operations a second."""
    size = MATRIX[where]
    left, right = (torch.randn(size, size, device=where, dtype=torch.bfloat16) for _ in range(2))
    with torch.inference_mode():
        return 2 * size**3 / seconds_of(lambda: left @ right, where)


def operations(shape: Shape, model: RandomReranker) -> float:
    """Return the floating point operations of scoring `pairs` × `tokens`.

    Two for each weight of a layer and each token, and those of attention over the half of each square that is not
    masked. The vocabulary counts for nothing, because it is computed for the last token alone.
    """
    config = shape.config.get_text_config()
    tokens = shape.pairs * shape.tokens
    body: Any = model.body
    weights = sum(one.numel() for one in body.parameters()) - body.get_input_embeddings().weight.numel()
    attention = config.num_hidden_layers * 4 * (shape.tokens / 2) * config.num_attention_heads * config.head_dim
    return float(tokens * (2 * weights + attention))


def _wait(where: str) -> None:
    if where == "cuda":
        torch.cuda.synchronize()
