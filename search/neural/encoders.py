"""Sentence encoders: they turn texts into vectors of unit length; a call computes equal texts only once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from transformers.utils import logging as transformers_logging

from search.interfaces import Encoder, Vectors
from search.neural.devices import chosen_device, chosen_dtype, kind_of
from search.neural.devices import has_bfloat16 as has_bfloat16
from search.neural.encoder_names import full_name, parts
from search.neural.memory import within_memory
from search.neural.packed_bert import PackedEmbedding
from search.neural.sentence_models import sentence_model
from search.neural.threads import threads as torch_threads
from search.neural.tracing import Embedding, quick

TOKENS_A_BATCH = {"cpu": 1536, "cuda": 65_536, "mps": 8_192}
"""Tokens of a batch, by device. On a CPU, batches whose activations fit into the cache are the fastest; on a GPU,
large ones."""
ONE_THREAD_TOKENS = 256
"""A batch of at most this number of tokens is computed by one thread. Several threads would wait for each other
longer than they save, and many times longer when the cores are busy."""
EQUAL_LENGTH = 64
"""A text of at most this number of tokens shares a batch only with texts of the same length, so that it is not
padded. Padding changes a vector, in bfloat16 by up to 0.003. Without padding, the vector of a question or a wording
does not depend on the other texts of the call, so a search gives the same ranking in every process and after any
other search. Packed models compute short texts of all lengths in one batch, without padding."""
REMEMBERED_VECTORS = 50_000
"""Number of vectors in the cache: the wordings of a few schemas and some thousand questions. With 384 numbers each:
77 MB."""
CALLED_WITH = 4
"""Batches in one call. With fewer, more padding is computed; with more, the caller has to wait longer to stop the
work."""
CHARACTERS_A_TOKEN = 4


class SentenceEncoder:
    """An encoder of the sentence-transformers family.

    `model` is the name of a packaged model, a folder, or a name on the Hugging Face hub (then `revision` should be a
    commit). `device` is auto, cpu, cuda, cuda:1 or mps; `dtype` auto, float32, bfloat16 or float16: auto is bfloat16 on
    a GPU and on a CPU that computes it in hardware, else float32. `threads` is the number of torch's threads in this
    process; 0 does not change it. Several threads may call the encoder at the same time.
    """

    def __init__(
        self,
        model: str = "all-MiniLM-L6-v2",
        revision: str | None = None,
        device: str = "auto",
        dtype: str = "auto",
        threads: int = 0,
    ) -> None:
        if threads:
            torch.set_num_threads(threads)
        transformers_logging.disable_progress_bar()
        self.device = device = chosen_device(device)
        self.name = full_name(model, revision)
        self.dtype = chosen_dtype(dtype, device)
        self._model = sentence_model(self.name, device, self.dtype).eval()
        whole = Embedding(self._model)
        self._quick = quick(self._model) if kind_of(device) == "cpu" else whole
        # A traced pass of a large batch is slower than the model's own.
        self._whole = self._quick if isinstance(self._quick, PackedEmbedding) else whole
        self._threads = torch.get_num_threads()
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self._longest = int(self._model.max_seq_length or 512)
        self.characters_read = CHARACTERS_A_TOKEN * self._longest
        self._tokens_a_batch = _tokens(device)
        self.characters_at_once = _characters(device)
        # A fast tokenizer raises an error if two threads change its settings at the same time.
        self._tokenizing = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row a text, shape (len(texts), dimensions). Texts too long for the model are cut.

        Texts with the same tokens, after cutting, are computed once. Texts of similar length are computed together, so
        that there is little padding. A batch that a GPU's memory does not hold is divided.

        Raises StageError if the memory does not suffice for one text.
        """
        rows: dict[tuple[int, ...], int] = {}
        places = [rows.setdefault(tokens, len(rows)) for tokens in self._tokenize(texts)]
        unique = list(rows)
        vectors = np.empty((len(unique), self.dimensions), dtype=np.float32)
        lengths = [len(tokens) for tokens in unique]
        packs = _packs if isinstance(self._quick, PackedEmbedding) else _batches

        def compute(part: Sequence[int]) -> None:
            held = [unique[at] for at in part]
            mixed = len(held[0]) < len(held[-1]) <= EQUAL_LENGTH
            vectors[part] = self._together(held) if mixed else self._forward(held)

        for batch in packs(lengths, self._tokens_a_batch):
            fitting = within_memory(batch, compute, "encoder", f"{self.name} and one text")
            if fitting < len(batch):
                self._tokens_a_batch = min(self._tokens_a_batch, fitting * lengths[batch[-1]])
        return vectors[places]

    def _together(self, texts: Sequence[tuple[int, ...]]) -> Vectors:
        """Return the vectors of short texts of several lengths, shortest first; each is that of the text alone."""
        assert isinstance(self._quick, PackedEmbedding)
        few = sum(map(len, texts)) <= ONE_THREAD_TOKENS
        with torch.inference_mode(), torch_threads(1 if few else self._threads):
            return torch.nn.functional.normalize(self._quick.together(texts).float(), dim=1).numpy()

    def _tokenize(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        if not texts:
            return []
        with self._tokenizing:
            tokenized = self._model.tokenizer(
                list(texts), truncation=True, max_length=self._longest, padding=False, return_attention_mask=False
            )
        return [tuple(ids) for ids in tokenized["input_ids"]]

    def _forward(self, texts: Sequence[tuple[int, ...]]) -> Vectors:
        """Return the vectors of texts given as tokens, normalised in float32 whatever the model's data type is."""
        tokenizer = self._model.tokenizer
        longest = max(len(tokens) for tokens in texts)
        ids = torch.full((len(texts), longest), tokenizer.pad_token_id or 0)
        mask = torch.zeros_like(ids)
        for row, tokens in enumerate(texts):
            place = slice(longest - len(tokens), None) if tokenizer.padding_side == "left" else slice(len(tokens))
            ids[row, place] = torch.tensor(tokens)
            mask[row, place] = 1
        forward = self._quick if ids.numel() <= ONE_THREAD_TOKENS else self._whole
        with torch.inference_mode(), torch_threads(1 if ids.numel() <= ONE_THREAD_TOKENS else self._threads):
            embedded = forward(ids.to(self._model.device), mask.to(self._model.device)).float()
            return torch.nn.functional.normalize(embedded, dim=1).cpu().numpy()


class CachedEncoder:
    """An encoder with a cache of the vectors used last, because several stages encode the same question."""

    def __init__(self, encoder: Encoder, size: int = REMEMBERED_VECTORS) -> None:
        self.name = encoder.name
        self.dimensions = encoder.dimensions
        self.characters_at_once = getattr(encoder, "characters_at_once", _characters("cpu"))
        self.characters_read = getattr(encoder, "characters_read", 0)
        self._encoder = encoder
        self._size = size
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one unit-length row a text, shape (len(texts), dimensions); only unknown texts are computed."""
        with self._lock:
            known = {text: self._known[text] for text in texts if text in self._known}
        missing = list(dict.fromkeys(text for text in texts if text not in known))
        if missing:
            known |= zip(missing, self._encoder.encode(missing), strict=True)
        with self._lock:
            for text in texts:
                self._known[text] = known[text]
                self._known.move_to_end(text)
            while len(self._known) > self._size:
                self._known.popitem(last=False)
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([known[text] for text in texts])


def cached_sentence_encoder(name: str, size: int = REMEMBERED_VECTORS, **options: Any) -> CachedEncoder:
    """Return the sentence encoder of that name (`model@revision`) for searches.

    `options` are those of SentenceEncoder; `size` is the number of vectors in the cache. Raises ValueError if another
    version of the model's package is installed, OSError if there is no such model.
    """
    model, revision = parts(name)
    return CachedEncoder(SentenceEncoder(**{"model": model, "revision": revision, **options}), size)


def _characters(device: str) -> int:
    """Return the number of characters, padding included, that one call should have."""
    return CALLED_WITH * CHARACTERS_A_TOKEN * _tokens(device)


def _tokens(device: str) -> int:
    return TOKENS_A_BATCH.get(kind_of(device), TOKENS_A_BATCH["cpu"])


def _packs(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the positions of texts, shortest text first: of at most `EQUAL_LENGTH` tokens, of any length together.

    Such a batch has at most `tokens` tokens, or one text. Longer texts come in the batches of `_batches`.
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    batch: list[int] = []
    held = 0
    for at in order:
        if batch and (lengths[at] > EQUAL_LENGTH or held + lengths[at] > tokens):
            yield batch
            batch, held = [], 0
        if lengths[at] > EQUAL_LENGTH:
            break
        batch.append(at)
        held += lengths[at]
    if batch:
        yield batch
    longer = [at for at in order if lengths[at] > EQUAL_LENGTH]
    for several in _batches([lengths[at] for at in longer], tokens):
        yield [longer[at] for at in several]


def _batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the positions of texts, shortest text first, in batches of at most `tokens` tokens, padding included.

    A batch holds texts of one length, except texts of more than `EQUAL_LENGTH` tokens.
    """
    batch: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        other = bool(batch) and lengths[batch[0]] != lengths[at] and lengths[batch[0]] <= EQUAL_LENGTH
        if batch and (other or (len(batch) + 1) * lengths[at] > tokens):
            yield batch
            batch = []
        batch.append(at)
    if batch:
        yield batch
