"""The sentence encoder against sentence-transformers' own way, and what is saved: tokens, padding, repeated work."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from search.neural.encoders import (
    EQUAL_LENGTH,
    TOKENS_A_BATCH,
    CachedEncoder,
    SentenceEncoder,
    _batches,
    _packs,
    has_bfloat16,
)
from search.neural.packed_bert import PackedEmbedding
from search.neural.tracing import Embedding, traced
from tests.fakes import HashEncoder
from tests.pretend_gpu import pretended

TEXTS = ["film: Amber Road", "", "ä→🎬", "who made it? " * 3, "a long plot about a lighthouse " * 80, "road"]


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder(device="cpu", dtype="float32")


def test_vectors_are_those_of_sentence_transformers(encoder: SentenceEncoder) -> None:
    expected = encoder._model.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)
    assert encoder.encode(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_every_vector_has_unit_length_in_any_precision(encoder: SentenceEncoder) -> None:
    for vectors in (encoder.encode(TEXTS), SentenceEncoder(device="cpu", dtype="bfloat16").encode(TEXTS)):
        assert vectors.dtype == np.float32
        assert vectors.shape == (len(TEXTS), encoder.dimensions)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_texts_take_the_packed_way_and_get_the_same_vectors(encoder: SentenceEncoder) -> None:
    assert isinstance(encoder._quick, PackedEmbedding)
    before = torch.get_num_threads()
    for text in ("road", "who made the film that Ada Lind acts in?", "long " * 100):
        expected = encoder._model.encode([text], normalize_embeddings=True, show_progress_bar=False)
        assert encoder.encode([text]) == pytest.approx(expected, abs=1e-5)
    assert torch.get_num_threads() == before


class BuiltIn(torch.nn.Module):
    """A model that reads a size where it is traced, and is wrong for every other."""

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        ids = features["input_ids"]
        return {"sentence_embedding": ids.float() * float(ids.shape[1])}


class Branching(torch.nn.Module):
    """A model that cannot be traced at all."""

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        if torch.jit.is_tracing():
            raise RuntimeError("not to be traced")
        return {"sentence_embedding": features["input_ids"].float()}


@pytest.mark.parametrize("model", [BuiltIn(), Branching()])
def test_a_model_that_a_trace_gets_wrong_is_run_as_it_is(model: torch.nn.Module) -> None:
    assert isinstance(traced(model), Embedding)  # type: ignore[arg-type]


def test_no_texts_give_no_vectors(encoder: SentenceEncoder) -> None:
    assert encoder.encode([]).shape == (0, 384)


def test_what_is_the_same_to_the_model_is_computed_once(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[int] = []
    for way in ("_forward", "_together"):
        compute = getattr(encoder, way)
        monkeypatch.setattr(encoder, way, lambda texts, c=compute: computed.append(len(texts)) or c(texts))
    long = "lighthouse " * 300
    # Case does not matter to this model, nor do words beyond its 256 tokens.
    vectors = encoder.encode(["road", "Road", long, long + "and a road", "birch"])
    assert sum(computed) == 3
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[2], vectors[3])


def test_the_name_says_model_and_revision(encoder: SentenceEncoder) -> None:
    assert encoder.name == "all-MiniLM-L6-v2@0.1.0"


def test_several_threads_get_the_vectors_that_one_gets(encoder: SentenceEncoder) -> None:
    alone = [encoder.encode([text])[0] for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: encoder.encode([text])[0], TEXTS * 5))
    assert np.array(together) == pytest.approx(np.array(alone * 5), abs=1e-5)


def test_threads_of_torch_are_capped_on_request() -> None:
    before = torch.get_num_threads()
    try:
        SentenceEncoder(device="cpu", threads=1)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [("flags\t\t: fpu avx512f avx512_bf16", True), ("flags : amx_bf16 sse", True), ("flags : avx512f avx2", False)],
)
def test_bfloat16_is_used_where_the_cpu_has_it(tmp_path: Path, flags: str, expected: bool) -> None:
    (tmp_path / "cpuinfo").write_text(f"processor : 0\n{flags}\n\nprocessor : 1\n{flags}\n")
    assert has_bfloat16(tmp_path / "cpuinfo") is expected


def test_a_machine_that_does_not_tell_is_taken_for_one_without(tmp_path: Path) -> None:
    assert not has_bfloat16(tmp_path / "nothing")


@given(lengths=st.lists(st.integers(1, 300), max_size=60), tokens=st.integers(1, 1000))
def test_batches_hold_every_text_once_and_no_more_tokens_than_allowed(lengths: list[int], tokens: int) -> None:
    batches = list(_batches(lengths, tokens))
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= tokens


@given(lengths=st.lists(st.integers(1, 150), max_size=60), tokens=st.integers(1, 1000))
def test_packs_hold_every_text_once_the_short_ones_without_padding(lengths: list[int], tokens: int) -> None:
    packs = list(_packs(lengths, tokens))
    assert sorted(place for pack in packs for place in pack) == list(range(len(lengths)))
    for pack in packs:
        held = [lengths[place] for place in pack]
        assert held == sorted(held)
        computed = sum(held) if held[-1] <= EQUAL_LENGTH else len(held) * held[-1]
        assert len(held) == 1 or (computed <= tokens and (held[0] > EQUAL_LENGTH) == (held[-1] > EQUAL_LENGTH))


def test_the_cache_computes_a_text_once() -> None:
    inner = HashEncoder()
    cached = CachedEncoder(inner)
    first = cached.encode(["a", "b", "a"])
    assert np.array_equal(cached.encode(["b", "c", "a"])[[2, 0]], first[:2])
    assert inner.encoded == ["a", "b", "c"]
    assert (cached.name, cached.dimensions) == (inner.name, inner.dimensions)
    assert cached.encode([]).shape == (0, 16)


def test_the_cache_lets_the_least_recently_asked_go() -> None:
    inner = HashEncoder()
    cached = CachedEncoder(inner, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.encode([text])
    # `c` pushed out `b`, since `a` was asked after it.
    assert inner.encoded == ["a", "b", "c", "b"]


def test_the_vector_of_a_short_text_does_not_depend_on_the_texts_beside_it() -> None:
    """Padding changes vectors, by 0.003 in bfloat16; a ranking would then depend on what was asked before."""
    encoder = SentenceEncoder()
    texts = [f"who directed {' '.join(['film'] * (at % 7))} number {at}" for at in range(40)]
    together = encoder.encode(texts)
    assert np.array_equal(together, np.stack([encoder.encode([text])[0] for text in texts]))


def test_a_gpu_that_is_named_by_its_number_gets_large_batches_in_bfloat16(
    encoder: SentenceEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pretended(monkeypatch):
        there = SentenceEncoder(device="cuda:0")
        assert (there.dtype, there._tokens_a_batch) == (torch.bfloat16, TOKENS_A_BATCH["cuda"])
        assert there.characters_at_once > 10 * encoder.characters_at_once
        found = there.encode(TEXTS)
    assert (found * encoder.encode(TEXTS)).sum(axis=1) == pytest.approx(1, abs=0.01)


def test_a_batch_that_the_memory_does_not_hold_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"road number {at} of the amber forest" for at in range(20)]
    cramped = SentenceEncoder(device="cpu", dtype="float32")
    expected, together, sizes = cramped.encode(texts), cramped._together, []

    def compute(held: Sequence[tuple[int, ...]]) -> np.ndarray:
        sizes.append(len(held))
        if len(held) > 6:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return together(held)

    monkeypatch.setattr(cramped, "_together", compute)
    monkeypatch.setattr(cramped, "_forward", compute)
    assert cramped.encode(texts) == pytest.approx(expected, abs=1e-6)
    assert max(sizes) > 6
    del sizes[:]
    cramped.encode(texts)
    assert max(sizes) <= 6, "what did not fit once is not tried again"
