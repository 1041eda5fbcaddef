"""The learned retriever of fields (docs/retrieval.md). Training and searches use the same forward pass.

The documents' vectors are not trained. The retriever is their encoder's model, which reads questions, one linear map
for each dense list, weights of the lists that are linear in the question's vector, and a score for each node type. It
starts as the retriever that has learned nothing: the encoder itself, maps of zero, and equal weights. Training changes
the maps and weights and, if asked to, the model's last layers. An artifact keeps only what training has changed: of
the model the differences, in half precision.

A retriever may have several members, which have learned from the same questions with different seeds; a node's score
is the mean of their scores. Scores are sums of dot products, so the mean of the queries gives the mean of the scores,
and a search costs the same however many members there are.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file
from sentence_transformers import SentenceTransformer
from torch import Tensor, nn
from torch.nn import functional

from search.artifact_files import LoadedArtifacts
from search.interfaces import FieldQuery, Vectors
from search.neural.devices import kind_of
from search.neural.field_members import members_of
from search.neural.sentence_models import sentence_model
from search.neural.threads import threads
from search.neural.tracing import Forward, traced

KIND = "retriever"
TOWER = "tower."
"""Prefix of the names of the encoder's parameters among the tensors of an artifact."""
TYPE_SCALE = 3.0
"""Factor of the types' scores, so that they learn as fast as the scores of the lists, which have first weights."""
REMEMBERED = 256
"""Number of questions whose queries a retriever remembers."""
AT_ONCE = 32
"""Texts that are embedded at once."""
_STAGE = "retrieve"
_LAYER = re.compile(r"\.layers?\.(\d+)\.")


class Queries(NamedTuple):
    """Queries of some questions: vectors (questions, dense lists, dimensions), weights (questions, lists), types."""

    vectors: Tensor
    weights: Tensor
    types: Tensor


@dataclass(frozen=True)
class RetrieverShape:
    """What a retriever reads questions for: its lists, which of them are dense, and the node types.

    `start` holds the weight of each list before learning.
    """

    lists: tuple[str, ...]
    dense: tuple[str, ...]
    types: tuple[str, ...]
    start: tuple[float, ...]


class FieldNet(nn.Module):
    """The network that turns questions into queries. `dropout` is above 0 only while it learns."""

    start: Tensor

    def __init__(self, tower: SentenceTransformer, shape: RetrieverShape) -> None:
        super().__init__()
        self.shape = shape
        self.dropout = 0.0
        self.tower = tower
        dimensions = int(tower.get_embedding_dimension() or 0)
        self.maps = nn.Parameter(torch.zeros(len(shape.dense), dimensions, dimensions))
        self.weigh = nn.Linear(dimensions, len(shape.lists))
        self.kinds = nn.Linear(dimensions, len(shape.types))
        self.register_buffer("start", torch.tensor(shape.start, dtype=torch.float32))
        for layer in (self.weigh, self.kinds):
            nn.init.zeros_(layer.weight)
        nn.init.zeros_(self.kinds.bias)
        # softplus of this is 1: a weight is its first value times what has been learned.
        nn.init.constant_(self.weigh.bias, math.log(math.e - 1))

    def forward(self, ids: Tensor, mask: Tensor) -> Queries:
        """Return the queries of questions given as tokens, both (questions, tokens)."""
        return self.queries(self.tower({"input_ids": ids, "attention_mask": mask})["sentence_embedding"])

    def queries(self, embedded: Tensor) -> Queries:
        """Return the queries of questions given as the tower's vectors, (questions, dimensions), of any length."""
        asked = functional.normalize(embedded.float(), dim=1)
        # Only what is learned reads the vector with gaps; the vector itself stays whole.
        read = functional.dropout(asked, self.dropout, self.dropout > 0)
        mapped = asked[:, None] + torch.einsum("qd,fde->qfe", read, self.maps)
        weights = self.start * functional.softplus(self.weigh(read))
        return Queries(functional.normalize(mapped, dim=2), weights, TYPE_SCALE * self.kinds(read))

    def learnable(self, layers: int) -> tuple[list[nn.Parameter], list[nn.Parameter], list[nn.Parameter]]:
        """Return what training changes: parameters of the tower's last layers, of maps and types, and of the weights.

        The other parameters of the tower are frozen.
        """
        wanted = set(tower_parameters(self.tower, layers))
        for name, parameter in self.tower.named_parameters():
            parameter.requires_grad_(name in wanted)
        tower = [parameter for name, parameter in self.tower.named_parameters() if name in wanted]
        return tower, [self.maps, *self.kinds.parameters()], list(self.weigh.parameters())

    def changed(self, base: SentenceTransformer, layers: int) -> dict[str, NDArray[np.float16]]:
        """Return the heads, and the differences of the tower's last layers from `base`, in half precision.

        The net and `base` may be on different devices.
        """
        own, before = dict(self.tower.named_parameters()), dict(base.named_parameters())
        names = tower_parameters(self.tower, layers)
        tower = {f"{TOWER}{name}": own[name].detach().cpu() - before[name].detach().cpu() for name in names}
        heads = {name: tensor.cpu() for name, tensor in self.state_dict().items() if not name.startswith(TOWER)}
        return {name: tensor.half().numpy() for name, tensor in {**heads, **tower}.items()}

    def change(self, tensors: Mapping[str, NDArray[Any]]) -> None:
        """Apply what `changed` returned to a net whose tower is still the encoder. Raises KeyError, RuntimeError."""
        own = dict(self.tower.named_parameters())
        heads = {}
        for name, tensor in tensors.items():
            values = torch.from_numpy(np.asarray(tensor, dtype=np.float32))
            if not name.startswith(TOWER):
                heads[name] = values
                continue
            with torch.no_grad():
                own[name.removeprefix(TOWER)].add_(values)
        missing = self.load_state_dict(heads, strict=False)
        if missing.unexpected_keys or any(not name.startswith(TOWER) for name in missing.missing_keys):
            raise RuntimeError(f"the tensors {', '.join(missing.unexpected_keys) or 'of the heads'} do not fit")


def mean_of(queries: Sequence[Queries], dense: Sequence[int]) -> Queries:
    """Return the queries whose scores are the means of the scores of these queries.

    `dense` holds the places of the dense lists among all lists. The vectors have a length of 1: the length of a mean
    becomes the weight of its list.
    """
    count = len(queries)
    if count == 1:
        return queries[0]
    places = list(dense)
    vectors = sum((one.vectors * one.weights[:, places, None] for one in queries[1:]),
                  queries[0].vectors * queries[0].weights[:, places, None]) / count  # fmt: skip
    weights = torch.stack([one.weights for one in queries]).mean(dim=0)
    weights[:, places] = vectors.norm(dim=2)
    types = torch.stack([one.types for one in queries]).mean(dim=0)
    return Queries(functional.normalize(vectors, dim=2), weights, types)


@lru_cache(maxsize=2)
def base_tower(encoder: str) -> SentenceTransformer:
    """Return the model of an encoder in single precision, shared and unchanged.

    Raises ValueError or OSError if there is no such model on this machine.
    """
    return sentence_model(encoder).eval()


@lru_cache(maxsize=2)
def traced_base(encoder: str) -> Forward:
    """Return the traced forward pass of an encoder's model in single precision; retrievers of several folds share it.

    Packed weights would change the last digits, and with them the places of candidates with nearly equal scores.
    """
    return traced(base_tower(encoder))


def new_net(encoder: str, shape: RetrieverShape, *, own_tower: bool = True) -> FieldNet:
    """Return an untrained net; the embeddings of words are shared with the encoder's model.

    Without a tower of its own the net has the encoder's model itself, which must not be changed then.
    """
    base = base_tower(encoder)
    if not own_tower:
        return FieldNet(base, shape).eval()
    shared = {id(parameter): parameter for name, parameter in base.named_parameters() if not _LAYER.search(name)}
    return FieldNet(copy.deepcopy(base, dict(shared)), shape).eval()


def on_device(net: FieldNet, device: str | torch.device) -> FieldNet:
    """Return a net on a device: the net itself if it is there already, else a copy.

    A net shares parameters with the encoder's model, which others use on the CPU, so they may not be moved.
    """
    if all(parameter.device.type == kind_of(device) for parameter in net.parameters()):
        return net
    return copy.deepcopy(net).to(device)


def tower_parameters(tower: SentenceTransformer, layers: int) -> list[str]:
    """Return the names of the parameters in the last `layers` layers of a tower."""
    of_layer = {name: int(found[1]) for name, _ in tower.named_parameters() if (found := _LAYER.search(name))}
    count = max(of_layer.values(), default=-1) + 1
    return [name for name, layer in of_layer.items() if layer >= count - layers]


def tokenized(tower: SentenceTransformer, texts: Sequence[str]) -> list[list[int]]:
    """Return the tokens of each text, cut to the tower's length."""
    found = tower.tokenizer(
        list(texts), truncation=True, max_length=int(tower.max_seq_length or 512), padding=False,
        return_attention_mask=False,
    )  # fmt: skip
    return [list(ids) for ids in found["input_ids"]]


def padded(tower: SentenceTransformer, tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Return ids and mask, both (texts, tokens), of texts given as tokens."""
    longest = max(map(len, tokens))
    ids = torch.full((len(tokens), longest), tower.tokenizer.pad_token_id or 0)
    mask = torch.zeros_like(ids)
    for row, own in enumerate(tokens):
        place = slice(longest - len(own), None) if tower.tokenizer.padding_side == "left" else slice(len(own))
        ids[row, place] = torch.tensor(own)
        mask[row, place] = 1
    return ids, mask


def embedded(tower: SentenceTransformer, tokens: Sequence[list[int]], check: Callable[[], None]) -> Vectors:
    """Return the tower's vectors of texts given as tokens, (texts, dimensions), not normalised, without gradients.

    Texts of equal length are computed together, so that none is padded. `check` is called between batches.
    """
    found = np.empty((len(tokens), int(tower.get_embedding_dimension() or 0)), dtype=np.float32)
    order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
    for _, equal in groupby(order, key=lambda at: len(tokens[at])):
        places = list(equal)
        for first in range(0, len(places), AT_ONCE):
            check()
            batch = places[first : first + AT_ONCE]
            ids, mask = padded(tower, [tokens[at] for at in batch])
            with torch.inference_mode():
                found[batch] = tower({"input_ids": ids, "attention_mask": mask})["sentence_embedding"].numpy()
    return found


class LearnedFieldRetriever:
    """A retriever as `register_artifact` wrote it (interfaces.FieldRetriever)."""

    def __init__(self, name: str, configuration: Mapping[str, Any], tensors: Mapping[str, NDArray[Any]]) -> None:
        """Load `config.json` and tensors.

        Raises KeyError, TypeError, ValueError or RuntimeError if they do not fit, OSError without the encoder's model.
        """
        self.name = name
        self.encoder: str = configuration["encoder"]
        self.lists: tuple[str, ...] = tuple(configuration["lists"])
        shape = RetrieverShape(
            self.lists, tuple(configuration["dense"]), tuple(configuration["types"]), tuple(configuration["start"])
        )
        if odd := next((key for key, tensor in tensors.items() if not np.isfinite(tensor).all()), None):
            raise ValueError(f"{odd} holds numbers that are not finite")
        self._nets: list[FieldNet] = []
        self._embed: list[Forward] = []
        for own in members_of(tensors):
            trained = any(name.startswith(TOWER) for name in own)
            net = new_net(self.encoder, shape, own_tower=trained)
            net.change(own)
            self._nets.append(net)
            if trained or not self._embed:
                self._embed.append(traced(net.tower) if trained else traced_base(self.encoder))
        self._tokenizing = Lock()
        self._read = lru_cache(maxsize=REMEMBERED)(self._query)

    def read(self, text: str) -> FieldQuery:
        """Return the query of a question."""
        return self._read(text)

    def _query(self, text: str) -> FieldQuery:
        # A fast tokenizer raises an error if two threads change its settings at the same time.
        tower, shape = self._nets[0].tower, self._nets[0].shape
        with self._tokenizing:
            (tokens,) = tokenized(tower, [text])
        with torch.inference_mode(), threads(1):
            # Members whose models are the encoder's own share its vector of the question.
            given = [embed(*padded(tower, [tokens])) for embed in self._embed]
            shared = len(given) == 1
            several = [net.queries(given[0 if shared else at]) for at, net in enumerate(self._nets)]
            found = mean_of(several, [shape.lists.index(name) for name in shape.dense])
        vectors = found.vectors[0].numpy()
        return FieldQuery(
            dict(zip(shape.dense, vectors, strict=True)),
            dict(zip(shape.lists, found.weights[0].tolist(), strict=True)),
            dict(zip(shape.types, found.types[0].tolist(), strict=True)),
        )


class LoadedFieldRetrievers(LoadedArtifacts[LearnedFieldRetriever]):
    """The learned retrievers by artifact (interfaces.FieldRetrievers)."""

    kind, stage, what = KIND, _STAGE, "retrievers"

    def __init__(self, directory: Path | str, most: int = 4) -> None:
        super().__init__(directory, most)

    def made(self, artifact: str, configuration: Mapping[str, Any], weights: Path, fold: int) -> LearnedFieldRetriever:
        """Return the retriever with these weights."""
        return LearnedFieldRetriever(artifact, configuration, load_file(weights))
