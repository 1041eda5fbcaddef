"""What models read of a question and a document, that padding changes no score, and that time is kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.trace import Limit
from search.neural.adapters import adapter_files, merged, with_adapter
from search.neural.causal_scorer import CausalReranker, causal_reranker
from search.neural.cross_encoder import CrossEncoder, cross_encoder
from search.neural.pair_model import AT_ONCE, TOKENS_A_BATCH, Pair, PairModel, PairScorer, batches
from tests import tiny_models
from tests.pretend_gpu import no_gpu_touched, pretended

DOCUMENTS = ["film w1", "the amber road of the forest keeper w2 w3 w4 w5 w6", "birch street", "w9 " * 200]


@pytest.fixture(scope="module")
def cross(tmp_path_factory: pytest.TempPathFactory) -> CrossEncoder:
    return cross_encoder(tiny_models.bert(tmp_path_factory.mktemp("bert")), 32, device="cpu").eval()


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tiny_models.qwen3(tmp_path_factory.mktemp("qwen"))


@pytest.fixture(scope="module")
def causal(qwen: str) -> CausalReranker:
    return causal_reranker(qwen, 256, device="cpu").eval()


def words_of(model: PairModel, ids: tuple[int, ...]) -> list[str]:
    return list(model.tokenizer.convert_ids_to_tokens(list(ids)))


def test_a_cross_encoder_reads_question_and_document_between_its_marks(cross: CrossEncoder) -> None:
    [pair] = cross.pairs("who made amber road ?", ["film w1"])
    said = words_of(cross, pair.ids)
    assert said == ["[CLS]", "who", "made", "amber", "road", "?", "[SEP]", "film", "w1", "[SEP]"]
    assert said[pair.second] == "film"


def test_long_questions_and_documents_are_cut_at_their_ends(cross: CrossEncoder) -> None:
    [pair] = cross.pairs("w1 " * 100, ["w2 " * 100])
    assert len(pair.ids) == cross.tokens == 32
    said = words_of(cross, pair.ids)
    assert (said.count("w1"), said.count("w2"), said[-1]) == (14, 15, "[SEP]")


@pytest.mark.parametrize("kind", ["cross", "causal"])
def test_a_score_does_not_depend_on_the_other_documents(kind: str, request: pytest.FixtureRequest) -> None:
    model: PairModel = request.getfixturevalue(kind)
    scorer = PairScorer("tiny", model)
    together = scorer.score("who made amber road ?", DOCUMENTS, Limit())
    alone = [scorer.score("who made amber road ?", [one], Limit())[0] for one in DOCUMENTS]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert len(set(np.round(together, 9))) == len(DOCUMENTS)


def test_an_untrained_cross_encoder_compares_the_two_parts_of_its_joint_reading(cross: CrossEncoder) -> None:
    [pair] = cross.pairs("amber road", ["film w1"])
    types = torch.tensor([[0] * pair.second + [1] * (len(pair.ids) - pair.second)])
    with torch.inference_mode():
        read = cross.body(input_ids=torch.tensor([pair.ids]), token_type_ids=types).last_hidden_state[0]
    asked, told = read[: pair.second].mean(0).numpy(), read[pair.second :].mean(0).numpy()
    expected = 10 * float(asked @ told) / float(np.linalg.norm(asked) * np.linalg.norm(told))
    assert PairScorer("", cross).score("amber road", ["film w1"], Limit())[0] == pytest.approx(expected, abs=1e-4)


def test_the_score_of_a_language_model_is_the_probability_of_yes_against_no(causal: CausalReranker, qwen: str) -> None:
    """The reference asks transformers' own forward pass, one text at a time, without padding."""
    model, tokenizer = AutoModelForCausalLM.from_pretrained(qwen), AutoTokenizer.from_pretrained(qwen)
    before, after = causal._chat("who made amber road ?")
    assert before.startswith("<|im_start|>system")
    assert after.endswith("<|im_start|>assistant")
    expected = []
    for document in DOCUMENTS[:3]:
        ids = [i for text in (before, document, after) for i in tokenizer(text, add_special_tokens=False)["input_ids"]]
        with torch.inference_mode():
            logits = model(torch.tensor([ids])).logits[0, -1]
        yes, no = (tokenizer.convert_tokens_to_ids(word) for word in ("yes", "no"))
        expected.append(float(torch.softmax(logits[[yes, no]], 0)[0]))
    found = PairScorer("", causal).score("who made amber road ?", DOCUMENTS[:3], Limit())
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_long_document_is_cut_before_the_end_of_the_chat(causal: CausalReranker) -> None:
    [pair] = causal.pairs("who ?", ["w9 " * 1000])
    assert len(pair.ids) == causal.tokens
    assert words_of(causal, pair.ids)[-1] == "[UNK]"  # The tiny vocabulary does not know "assistant".
    [longer] = causal.pairs("w1 " * 3000, ["w9 w9 w9"])
    assert len(longer.ids) <= causal.tokens
    assert words_of(causal, longer.ids).count("w9") == 3


def test_a_model_without_a_chat_gets_plain_paragraphs(tmp_path: Path) -> None:
    plain = causal_reranker(tiny_models.qwen3(tmp_path, chat=False), 256, device="cpu")
    before, after = plain._chat("who ?")
    assert "<Query>: who ?" in before
    assert after == "\n\nAnswer:"


def test_a_model_that_cannot_say_yes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no single token for 'yes'"):
        causal_reranker(tiny_models.qwen3(tmp_path, words=False), 256, device="cpu")


def test_batches_are_of_similar_length_and_keep_their_bound() -> None:
    lengths = [7, 3, 100, 3, 8, 50]
    found = list(batches(lengths, 24))
    assert sorted(at for batch in found for at in batch) == list(range(6))
    assert found == [[1, 3, 0], [4], [5], [2]]
    assert all(len(batch) * max(lengths[at] for at in batch) <= 24 for batch in found if len(batch) > 1)


def test_several_workers_get_as_many_batches_of_about_the_same_size() -> None:
    assert [len(batch) for batch in batches([10] * 12, 80, workers=2)] == [6, 6]
    assert [len(batch) for batch in batches([10] * 12, 50, workers=2)] == [3, 3, 3, 3]
    assert list(batches([5], 80, workers=2)) == [[0]]


def test_threads_and_packed_weights_change_no_score_and_training_reads_the_weights_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = cross_encoder(tiny_models.bert(tmp_path), 32, device="cpu").eval()
    scorer = PairScorer("", model)
    scorer._tokens_a_batch = 32
    asked = "who made amber road ?"

    def scores(workers: int) -> np.ndarray:
        monkeypatch.setattr(torch, "get_num_threads", lambda: workers)
        return scorer.score(asked, DOCUMENTS, Limit())

    before = scores(1)
    model.serve()
    assert model._packed is not None
    assert scores(1) == pytest.approx(before, abs=1e-4)
    assert scores(3) == pytest.approx(before, abs=1e-4)
    model.train().eval()
    with torch.no_grad():
        for layer in model.body.encoder.layer:
            layer.output.dense.weight.mul_(2)
    assert np.abs(scores(1) - before).max() > 1e-3


def test_scoring_stops_at_the_deadline_and_when_cancelled(cross: CrossEncoder) -> None:
    scorer = PairScorer("", cross)
    with pytest.raises(DeadlineExceeded):
        scorer.score("who ?", DOCUMENTS, Limit.seconds(-1))
    with pytest.raises(SearchCancelled):
        scorer.score("who ?", DOCUMENTS, Limit(cancelled=lambda: True))


class Cramped(CrossEncoder):
    """A cross-encoder on a device whose memory holds `room` pairs."""

    room: int
    asked: list[int]

    def forward(self, pairs: Sequence[Pair]) -> torch.Tensor:
        self.asked.append(len(pairs))
        if len(pairs) > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return super().forward(pairs)


def cramped(folder: Path, room: int) -> Cramped:
    made = cross_encoder(tiny_models.bert(folder), 32, device="cpu").eval()
    made.__class__ = Cramped
    made.room, made.asked = room, []
    return made


def test_a_batch_that_the_memory_does_not_hold_is_divided_and_later_ones_are_smaller(
    tmp_path: Path, cross: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    asked, documents = "who made amber road ?", [f"film w{at} amber" for at in range(24)]
    model = cramped(tmp_path, room=5)
    scorer = PairScorer("tiny", model)
    found = scorer.score(asked, documents, Limit())
    assert found == pytest.approx(PairScorer("", cross).score(asked, documents, Limit()), abs=1e-5)
    assert max(model.asked) == 24
    del model.asked[:]
    assert scorer.score(asked, documents, Limit()) == pytest.approx(found, abs=1e-5)
    assert max(model.asked) <= 5, "what did not fit once is not tried again"


def test_several_threads_divide_their_batches_too(tmp_path: Path, cross: CrossEncoder) -> None:
    documents = [f"film w{at} amber" for at in range(24)]
    scorer = PairScorer("tiny", cramped(tmp_path, room=2))
    expected = PairScorer("", cross).score("who made ?", documents, Limit())
    assert scorer.score("who made ?", documents, Limit()) == pytest.approx(expected, abs=1e-5)


def test_a_model_that_fails_is_an_error_of_its_stage_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = PairScorer("tiny", cramped(tmp_path, room=0))
    with pytest.raises(StageError, match="memory of the device does not suffice for tiny and one document") as caught:
        scorer.score("who ?", ["film w1", "film w2"], Limit())
    assert caught.value.stage == "rerank"

    def broken(*_: object) -> torch.Tensor:
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nCompile with TORCH_USE_CUDA_DSA")

    monkeypatch.setattr(Cramped, "forward", broken)
    with pytest.raises(StageError, match=r"tiny failed \(CUDA error: an illegal memory access was encountered\)"):
        scorer.score("who ?", ["film w1"], Limit())


@pytest.mark.parametrize("method", ["whole", "adapter"])
def test_a_language_model_in_bfloat16_gives_each_document_a_score_of_its_own(qwen: str, method: str) -> None:
    """The reference computes in float64 from the last tokens' vectors; logits in bfloat16 near 20 are 1/8 apart."""
    model = causal_reranker(qwen, 256, device="cpu", dtype=torch.bfloat16).eval()
    if method == "adapter":
        model.body = with_adapter(model.body, 2, 4, 0.0, causal=True, seed=1)
    with torch.no_grad():
        model._language_model.get_output_embeddings().weight.mul_(40)
    documents = [f"film w{at} amber w{at + 1} road" for at in range(24)]
    pairs = model.pairs("who made amber road ?", documents)
    read: list[torch.Tensor] = []
    model._transformer.register_forward_hook(lambda _, __, found: read.append(found.last_hidden_state))
    with torch.inference_mode():
        found = model(pairs)
        [hidden] = read
        last = torch.stack([hidden[row, len(pair.ids) - 1] for row, pair in enumerate(pairs)])
        head = model._language_model.get_output_embeddings().weight.double()
        expected = last.double() @ (head[model.yes] - head[model.no])
        logits = (last @ model._language_model.get_output_embeddings().weight.T).float()
    assert found.dtype == torch.float32
    assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-5)
    distinct = len(set(map(tuple, last.tolist())))
    assert len(set(found.tolist())) == distinct > len(set((logits[:, model.yes] - logits[:, model.no]).tolist()))


@pytest.mark.parametrize(
    "changes", [{}, {"final_logit_softcapping": 5.0}, {"logit_scale": 0.25}, {"logits_scaling": 4.0}]
)
def test_the_score_is_that_of_the_model_s_own_logits_whatever_its_head_does(
    qwen: str, changes: dict[str, float]
) -> None:
    model = causal_reranker(qwen, 256, device="cpu").eval()
    for name, value in changes.items():
        setattr(model.body.config, name, value)
    pairs = model.pairs("who made amber road ?", DOCUMENTS[:3])
    cap, scale = changes.get("final_logit_softcapping"), changes.get("logit_scale", 1.0)
    with torch.inference_mode():
        found = model(pairs)
        for pair, score in zip(pairs, found.tolist(), strict=True):
            logits = model.body(torch.tensor([pair.ids])).logits[0, -1] * scale / changes.get("logits_scaling", 1.0)
            logits = cap * torch.tanh(logits / cap) if cap else logits
            assert score == pytest.approx(float(logits[model.yes] - logits[model.no]), abs=1e-5)


@pytest.mark.parametrize("kind", ["cross", "causal"])
def test_a_scorer_on_a_gpu_gives_the_scores_of_the_cpu(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "cross":
        model: PairModel = cross_encoder(tiny_models.bert(tmp_path), 32, device="cpu")
    else:
        model = causal_reranker(tiny_models.qwen3(tmp_path), 256, device="cpu")
    expected = PairScorer("", model).score("who made amber road ?", DOCUMENTS, Limit())
    with pretended(monkeypatch):
        scorer = PairScorer("", model.to("cuda:0"))
        assert (scorer.at_once, scorer._tokens_a_batch) == (AT_ONCE["cuda"], TOKENS_A_BATCH["cuda"])
        assert scorer.score("who made amber road ?", DOCUMENTS, Limit()) == pytest.approx(expected, abs=1e-4)


def test_adapters_are_made_and_read_on_the_cpu_without_opening_a_gpu(
    qwen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with no_gpu_touched(monkeypatch):
        adapted = with_adapter(causal_reranker(qwen, 256, device="cpu").body, 2, 4, 0.0, causal=True, seed=1)
        for name, content in adapter_files(adapted, qwen).items():
            (tmp_path / name).write_bytes(content)
        whole = merged(causal_reranker(qwen, 256, device="cpu").body, tmp_path)
    assert {parameter.device.type for parameter in whole.parameters()} == {"cpu"}
