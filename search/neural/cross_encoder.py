"""A cross-encoder: an encoder reads question and document as one text, and a small head scores them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoConfig, AutoModel, AutoTokenizer

from search.neural.encoder_names import located, parts
from search.neural.packed_bert import PackedBert, packed_bert
from search.neural.pair_model import Pair, PairModel

KIND = "cross-encoder"
QUESTION_SHARE = 0.5
"""Largest part of the tokens that the question may take."""
FIRST_SCALE = 10.0
"""Factor of the cosine before training."""
FREE_TOKENS = 3
"""Special tokens of a pair: at its begin, after the question, and after the document."""


class CrossEncoder(PairModel):
    """An encoder of BERT's family with a head.

    The head adds two terms: a linear function of the mean of all tokens, and a scaled cosine of the means of the
    question's tokens and the document's tokens. Both means come out of the joint pass. The linear function starts at 0,
    so that the first scores come from the cosine, which a sentence encoder was trained for.
    """

    def __init__(self, body: nn.Module, tokenizer: Any, width: int, tokens: int) -> None:
        super().__init__(tokenizer, tokens)
        self.body = body
        self.head = nn.Linear(width, 1)
        self.scale = nn.Parameter(torch.tensor(FIRST_SCALE))
        self._packed: PackedBert | None = None
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def pairs(self, question: str, documents: Sequence[str]) -> list[Pair]:
        """Return the tokens of the question with each document; long questions and documents are cut at their ends."""
        room = self.tokens - FREE_TOKENS
        # A word has a token at least, so later words are not read.
        asked, *told = self.token_ids([question, *(_first_words(one, room) for one in documents)])
        asked = asked[: int(room * QUESTION_SHARE)]
        begin, end = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        first = (begin, *asked, end)
        return [Pair((*first, *one[: room - len(asked)], end), len(first)) for one in told]

    def serve(self) -> CrossEncoder:
        """Pack the present weights, so that scores take less time, until `train` is called."""
        self._packed = packed_bert(self.body)
        return self

    def train(self, mode: bool = True) -> CrossEncoder:
        """Return to the weights that training changes, as `nn.Module.train` does."""
        if mode:
            self._packed = None
        super().train(mode)
        return self

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        """Return the scores of pairs."""
        ids, mask, document = self.padded(pairs)
        if self._packed is not None:
            read = self._packed(ids, mask, document).float()
        else:
            read = self.body(input_ids=ids, attention_mask=mask, token_type_ids=document).last_hidden_state.float()
        cosine = functional.cosine_similarity(_mean(read, mask - document), _mean(read, document))
        # The head stays in float32, also where the encoder computes in bfloat16.
        with torch.autocast(read.device.type, enabled=False):
            scores: Tensor = self.scale * cosine.float() + self.head(_mean(read, mask).float()).squeeze(1)
        return scores


def cross_encoder(model: str, tokens: int, *, device: str, dtype: torch.dtype = torch.float32) -> CrossEncoder:
    """Return an untrained cross-encoder from a sentence encoder's weights (`model@revision`).

    `tokens` is cut to what the encoder can read. Raises ValueError or OSError if there is no such model.
    """
    name, revision = parts(model)
    folder = located(name, model)
    given = None if folder != name else revision
    # With dropout inside the attention, torch keeps each attention matrix, and a step of training takes twice as long.
    body = AutoModel.from_pretrained(folder, revision=given, dtype=dtype, attention_probs_dropout_prob=0.0)
    tokenizer = AutoTokenizer.from_pretrained(folder, revision=given)
    return _made(body, tokenizer, tokens).to(device)


def empty_cross_encoder(model: str, tokens: int) -> CrossEncoder:
    """Return a cross-encoder of the model's shape whose weights are still to be loaded."""
    name, revision = parts(model)
    folder = located(name, model)
    given = None if folder != name else revision
    body = AutoModel.from_config(AutoConfig.from_pretrained(folder, revision=given))
    return _made(body, AutoTokenizer.from_pretrained(folder, revision=given), tokens)


def _made(body: nn.Module, tokenizer: Any, tokens: int) -> CrossEncoder:
    config: Any = body.config
    return CrossEncoder(body, tokenizer, config.hidden_size, min(tokens, config.max_position_embeddings))


def _first_words(text: str, count: int) -> str:
    parts = text.split(None, count)
    return text[: len(text) - len(parts[count])] if len(parts) > count else text


def _mean(read: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of the tokens in a mask: (rows, tokens, width) and (rows, tokens) → (rows, width)."""
    weights = mask.unsqueeze(2).to(read.dtype)
    return (read * weights).sum(dim=1) / weights.sum(dim=1).clamp(min=1)
