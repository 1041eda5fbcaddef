"""Encoders of BERT's family on a CPU: the same numbers as the model's own forward pass, in less time.

oneDNN computes with weights in blocks. Here they are brought into that form once instead of in every call, the three
projections of the attention are one product, and nothing is computed in Python that does not depend on the text. For
short texts that halves the time; for batches of long texts, where the products of matrices are nearly all of it, it
saves some percent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn import functional

Read = Callable[[Tensor, Tensor, Tensor | None], Tensor]
"""Token ids, attention mask and types of the tokens or None, each (texts, tokens) → (texts, tokens, width)."""

_HELD_AGAINST = ((2, 12), (1, 5), (3, 33))
"""Shapes of the texts on which the numbers must be those of the model."""
_TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 0.02}
"""Largest difference of a number from that of the model; the numbers of a token have a variance of about 1."""


class _Layer(NamedTuple):
    """Packed weights and biases of a layer's four products, and its two normalisations."""

    attend: tuple[Tensor, Tensor]
    joined: tuple[Tensor, Tensor]
    wide: tuple[Tensor, Tensor]
    narrow: tuple[Tensor, Tensor]
    first: nn.LayerNorm
    second: nn.LayerNorm


class PackedBert:
    """The forward pass of a BERT model with weights as they are now; later changes of the model do not reach it."""

    def __init__(self, body: nn.Module) -> None:
        """Pack the weights. Raises AttributeError, TypeError or ValueError for another architecture."""
        whole: Any = body
        config: Any = whole.config
        if config.model_type != "bert" or config.hidden_act != "gelu" or config.is_decoder:
            raise ValueError(f"this forward pass is not that of {config.model_type} with {config.hidden_act}")
        self._heads = int(config.num_attention_heads)
        self._width = int(config.hidden_size)
        self._embeddings: nn.Module = whole.embeddings
        self._layers = [_packed_layer(layer) for layer in whole.encoder.layer]

    def __call__(self, ids: Tensor, mask: Tensor, types: Tensor | None = None) -> Tensor:
        """Return the last layer's vectors of the tokens, (texts, tokens, width); those of padding mean nothing."""
        texts, tokens = ids.shape
        whole = bool(mask.all())
        seen = None if whole else mask.bool()[:, None, None, :].expand(texts, 1, tokens, tokens)
        held = self._embeddings(input_ids=ids, token_type_ids=types).view(texts * tokens, self._width)
        read = self._read(held, lambda split: self._attended(split, tokens, seen))
        return read.view(texts, tokens, self._width)

    def together(self, texts: Sequence[Sequence[int]]) -> list[Tensor]:
        """Return the vectors of the tokens of texts without padding, one (texts, tokens, width) for each length.

        Texts of one length stand side by side. Only their attention needs them apart from the others: all other numbers
        of a token are its own, so the weights are read once for all texts and not once for each length.
        """
        runs = [(length, sum(1 for _ in alike)) for length, alike in groupby(map(len, texts))]
        ids = torch.tensor([[token for text in texts for token in text]])
        places = torch.tensor([[place for text in texts for place in range(len(text))]])
        held = self._embeddings(input_ids=ids, position_ids=places).view(ids.numel(), self._width)
        sizes = [length * several for length, several in runs]

        def attended(split: Tensor) -> Tensor:
            parts = zip(split.split(sizes), runs, strict=True)
            return torch.cat([self._attended(part, length, None) for part, (length, _) in parts])

        parts = zip(self._read(held, attended).split(sizes), runs, strict=True)
        return [part.view(several, length, self._width) for part, (length, several) in parts]

    def _read(self, held: Tensor, attended: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the last layer's vectors of tokens, one a row; `attended` reads the projections of all tokens."""
        for layer in self._layers:
            joined = attended(_product(held, *layer.attend))
            held = layer.first(_product(joined, *layer.joined).add_(held))
            wide = functional.gelu(_product(held, *layer.wide))
            held = layer.second(_product(wide, *layer.narrow).add_(held))
        return held

    def _attended(self, split: Tensor, tokens: int, seen: Tensor | None) -> Tensor:
        """Return what the tokens of texts of `tokens` tokens read of each other, one row a token."""
        parts = split.view(-1, tokens, 3, self._heads, self._width // self._heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        read = functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)
        return read.transpose(1, 2).reshape(-1, self._width)


def packed_bert(body: nn.Module) -> PackedBert | None:
    """Return the quick forward pass of a model; None if it has another one, or is not on a CPU with oneDNN."""
    if next(body.parameters()).device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return None
    try:
        with torch.inference_mode():
            packed = PackedBert(body)
            return packed if all(_agree(body, packed, shape) for shape in _HELD_AGAINST) else None
    except (AttributeError, IndexError, KeyError, NotImplementedError, RuntimeError, TypeError, ValueError):
        return None


class PackedEmbedding:
    """The forward pass of a sentence transformer whose model is packed, and whose other modules follow unchanged."""

    def __init__(self, model: SentenceTransformer, packed: PackedBert) -> None:
        self._packed = packed
        self._after = list(model)[1:]

    def __call__(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the vectors of texts given as tokens, (texts, dimensions)."""
        return self._pooled(self._packed(ids, mask), mask)

    def together(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Return the vectors of texts given as tokens, without padding; those of one length stand side by side."""
        read = self._packed.together(texts)
        return torch.cat([self._pooled(part, torch.ones(part.shape[:2], dtype=torch.long)) for part in read])

    def _pooled(self, read: Tensor, mask: Tensor) -> Tensor:
        features: dict[str, Any] = {"token_embeddings": read, "attention_mask": mask}
        for module in self._after:
            features = module(features)
        embedded: Tensor = features["sentence_embedding"]
        return embedded


def _product(held: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    found: Tensor = torch.ops.mkldnn._linear_pointwise(held, weight, bias, "none", [], "")
    return found


def _packed_layer(layer: Any) -> _Layer:
    own, out = layer.attention.self, layer.attention.output
    return _Layer(
        _packed(own.query, own.key, own.value), _packed(out.dense), _packed(layer.intermediate.dense),
        _packed(layer.output.dense), out.LayerNorm, layer.output.LayerNorm,
    )  # fmt: skip


def _packed(*linear: nn.Module) -> tuple[Tensor, Tensor]:
    """Return the weights of some products of the same input as one, in oneDNN's form, and their biases."""
    weights, biases = [], []
    for one in linear:
        # A layer with an adapter adds to this product, so a class made of nn.Linear does not do.
        if type(one) is not nn.Linear or one.bias is None:
            raise TypeError(f"{type(one).__name__} is no plain linear layer with a bias")
        weights.append(one.weight.detach())
        biases.append(one.bias.detach())
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(torch.cat(weights), None)
    return packed, torch.cat(biases)


def _agree(body: nn.Module, packed: PackedBert, shape: tuple[int, int]) -> bool:
    """Return whether both give the same numbers; if there are several texts, the first is padded."""
    texts, tokens = shape
    words: Any = body.get_input_embeddings()  # type: ignore[operator]
    ids = torch.arange(texts * tokens).reshape(shape) % min(90, words.num_embeddings)
    mask = torch.ones_like(ids)
    if texts > 1:
        mask[0, tokens // 2 :] = 0
    expected = body(input_ids=ids, attention_mask=mask).last_hidden_state
    difference = ((packed(ids, mask) - expected) * mask[:, :, None]).abs().max()
    return bool(difference <= _TOLERANCE.get(expected.dtype, 0.0))
