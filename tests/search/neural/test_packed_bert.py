"""The packed forward pass against transformers' own, and the models that it leaves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import AutoModel

from search.neural.packed_bert import packed_bert
from tests import tiny_models

IDS = torch.tensor([[5, 9, 12, 7, 3], [8, 6, 0, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
TYPES = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 0, 0, 0]])


@pytest.fixture
def bert(tmp_path: Path) -> Any:
    return AutoModel.from_pretrained(tiny_models.bert(tmp_path)).eval()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_vectors_of_tokens_are_those_of_the_model(bert: Any, dtype: torch.dtype) -> None:
    bert.to(dtype)
    packed = packed_bert(bert)
    assert packed is not None
    with torch.inference_mode():
        expected = bert(input_ids=IDS, attention_mask=MASK, token_type_ids=TYPES).last_hidden_state[MASK.bool()]
        found = packed(IDS, MASK, TYPES)[MASK.bool()]
    assert torch.allclose(found.float(), expected.float(), atol=1e-5 if dtype == torch.float32 else 0.02)


def test_models_with_another_forward_pass_are_left_alone(bert: Any, tmp_path: Path) -> None:
    class Adapted(nn.Linear):
        """A layer that adds something to its product, as adapters do."""

    old = bert.encoder.layer[0].output.dense
    bert.encoder.layer[0].output.dense = Adapted(old.in_features, old.out_features)
    assert packed_bert(bert) is None
    assert packed_bert(AutoModel.from_pretrained(tiny_models.qwen3(tmp_path / "other"))) is None
    bert.encoder.layer[0].output.dense = old
    bert.config.hidden_act = "relu"
    assert packed_bert(bert) is None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_texts_of_several_lengths_have_together_the_vectors_that_each_has_alone(bert: Any, dtype: torch.dtype) -> None:
    packed = packed_bert(bert.to(dtype))
    assert packed is not None
    texts = [(5, 9), (12, 7), (3, 8, 6), (5, 5, 9, 12, 7, 3, 8)]
    with torch.inference_mode():
        found = [text for part in packed.together(texts) for text in part]
        alone = [packed(torch.tensor([text]), torch.ones((1, len(text)), dtype=torch.long))[0] for text in texts]
    assert [tuple(one.shape[:1]) for one in found] == [(2,), (2,), (3,), (7,)]
    for one, other in zip(found, alone, strict=True):
        assert torch.allclose(one.float(), other.float(), atol=1e-5 if dtype == torch.float32 else 0.02)
