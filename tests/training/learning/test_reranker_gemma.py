"""A real language model is a reranker, and learns with adapters: Gemma 3 270M, where the extra `gemma` is installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from search.domain.trace import Limit
from search.neural.adapters import adapter_files, with_adapter
from search.neural.causal_scorer import causal_reranker
from search.neural.pair_model import PairScorer
from tests import gemma
from training.learning.reranker_fit import backward
from training.learning.stepwise import trainable

QUESTION = "Which animal says meow?"
DOCUMENTS = ["[animal] cat", "[animal] dog", "[city] Rome"]


@gemma.needs_gemma
def test_gemma_scores_and_learns(tmp_path: Path) -> None:
    """Three steps on one group of three raise the first document above the others."""
    model = causal_reranker(str(gemma.model_file(tmp_path)), 192, device="cpu")
    assert [model.tokenizer.decode([token]).strip() for token in (model.yes, model.no)] == ["yes", "no"]
    before = PairScorer("gemma", model).score(QUESTION, DOCUMENTS, Limit())
    assert ((before > 0) & (before < 1)).all()
    assert len(set(np.round(before, 6))) == 3
    model.body = with_adapter(model.body, 8, 16, 0.0, causal=True, seed=0)
    model.train()
    weights = trainable(model)
    assert all("lora_" in name for name in weights)
    optimizer = torch.optim.AdamW(list(weights.values()), lr=1e-3)
    losses = []
    for seed in range(3):
        optimizer.zero_grad()
        losses.append(backward(model, model.pairs(QUESTION, DOCUMENTS), 3, seed, 1.0))
        optimizer.step()
    assert losses[-1] < losses[0]
    after = PairScorer("gemma", model).score(QUESTION, DOCUMENTS, Limit())
    assert after[0] - after[1:].max() > before[0] - before[1:].max()
    body = model.body
    assert set(adapter_files(body, "google/gemma-3-270m")) == {"adapter_config.json", "adapter_model.safetensors"}  # type: ignore[arg-type]
