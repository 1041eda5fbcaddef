"""A language model as a reranker, in the form of Qwen3-Reranker: the probability of "yes" against "no"."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from peft import PeftModel
from torch import Tensor, nn
from transformers import AutoModelForCausalLM, AutoTokenizer

from search.neural.encoder_names import parts
from search.neural.pair_model import Pair, PairModel
from search.prompts import PromptFiles

KIND = "causal"
QUESTION_SHARE = 0.5
"""Largest part of the tokens that instruction and question may take, without the chat's own."""
_MARK = "\x00document\x00"
_ASKED = "\x00question\x00"
_PARTS = "".join(
    f"{{%- set {name} = (messages | selectattr('role', 'eq', '{name}') | first).content -%}}"
    for name in ("query", "document")
)
"""Jinja: what vLLM hands to a score template, under the names `query` and `document`."""


class CausalReranker(PairModel):
    """A causal language model, the chat that it is given, and its two answers.

    The score is the logit of "yes" minus the logit of "no" at the last token; `served` turns it into a probability. The
    last product is computed in float32: a difference of two logits in bfloat16 has few values, so that documents tie.
    """

    def __init__(self, body: nn.Module, tokenizer: Any, tokens: int, prompts: PromptFiles | None = None) -> None:
        """Raises ValueError if the model's vocabulary does not have both answers as one token each."""
        super().__init__(tokenizer, tokens)
        self.body = body
        self._prompts = prompts or PromptFiles()
        chat = bool(getattr(tokenizer, "chat_template", None))
        self.yes, self.no = (self._answer(word, chat) for word in ("yes", "no"))

    def pairs(self, question: str, documents: Sequence[str]) -> list[Pair]:
        """Return the chats; a document that is too long is cut at its end, and so is a very long question."""
        before, after = self._chat(question)
        head, tail, *told = self.token_ids([before, after, *documents])
        room = self.tokens - len(head) - len(tail)
        if room < (1 - QUESTION_SHARE) * self.tokens / 2:
            shorter = question[: max(1, int(len(question) * QUESTION_SHARE))]
            if shorter != question:
                return self.pairs(shorter, documents)
        return [Pair((*head, *one[: max(0, room)], *tail), len(head)) for one in told]

    def forward(self, pairs: Sequence[Pair]) -> Tensor:
        """Return logit of "yes" minus logit of "no" for each pair."""
        ids, mask, _ = self.padded(pairs)
        # No token reads what follows it, so padding at the end needs no mask.
        read = self._transformer(input_ids=ids, use_cache=False).last_hidden_state
        last = read[torch.arange(len(pairs), device=ids.device), mask.sum(dim=1) - 1]
        with torch.autocast(last.device.type, enabled=False):
            scores: Tensor = self._difference(last.float())
        return scores

    @property
    def _language_model(self) -> Any:
        """The model of transformers, whose layers may have adapters."""
        body: Any = self.body
        return body.get_base_model() if isinstance(body, PeftModel) else body

    @property
    def _transformer(self) -> Any:
        """The language model without its head."""
        return self._language_model.base_model

    def _difference(self, last: Tensor) -> Tensor:
        """Return logit of "yes" minus logit of "no", given the last tokens' vectors in float32, (pairs, width)."""
        model = self._language_model
        head, config = model.get_output_embeddings(), model.config.get_text_config()
        yes, no = head.weight[self.yes].float(), head.weight[self.no].float()
        of_yes, of_no = (0.0, 0.0) if head.bias is None else (head.bias[self.yes].float(), head.bias[self.no].float())
        scale = (getattr(config, "logit_scale", None) or 1.0) / (getattr(config, "logits_scaling", None) or 1.0)
        if cap := getattr(config, "final_logit_softcapping", None):
            logits = (scale * (last @ yes + of_yes), scale * (last @ no + of_no))
            return cap * (torch.tanh(logits[0] / cap) - torch.tanh(logits[1] / cap))
        return scale * (last @ (yes - no) + (of_yes - of_no))

    def served(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of "yes" against "no"."""
        return 1.0 / (1.0 + np.exp(-np.clip(scores, -700, 700)))

    def score_template(self) -> str:
        """Return the chat as a score template of vLLM (`--chat-template`), so that a server asks as this code does."""
        before, after = self._chat(_ASKED)
        begin, _, between = before.partition(_ASKED)
        said = [f"{{{{- {json.dumps(text)} -}}}}" for text in (begin, between, after)]
        return f"{_PARTS}{said[0]}{{{{- query -}}}}{said[1]}{{{{- document -}}}}{said[2]}"

    def _chat(self, question: str) -> tuple[str, str]:
        """Return what stands before and after the document; a model without a chat template gets plain paragraphs."""
        system = self._prompts.text("rerank/system.md")
        user = self._prompts.render("rerank/question.md", question=question.replace(_MARK, ""))
        if not getattr(self.tokenizer, "chat_template", None):
            return f"{system}\n\n{user} ", "\n\nAnswer:"
        messages = [{"role": "system", "content": system}, {"role": "user", "content": f"{user} {_MARK}"}]
        chat: str = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True, enable_thinking=False
        )
        before, _, after = chat.partition(_MARK)
        return before, after

    def _answer(self, word: str, chat: bool) -> int:
        """Return the token of an answer: after a chat's begin of a turn as it is, in plain text after a space."""
        for text in (word, f" {word}") if chat else (f" {word}", word):
            [ids] = self.token_ids([text])
            if len(ids) == 1:
                return ids[0]
        raise ValueError(f"its vocabulary has no single token for {word!r}, so it cannot be a reranker")


def causal_reranker(model: str, tokens: int, *, device: str, dtype: torch.dtype = torch.float32) -> CausalReranker:
    """Return a reranker from a causal language model: a folder, a .gguf file, or `name@revision` on the hub.

    Raises ValueError or OSError if there is no such model, or if it cannot answer yes or no.
    """
    name, revision = parts(model)
    options: dict[str, Any] = {"revision": revision} if revision else {}
    if name.endswith(".gguf"):
        path = Path(name)
        name, options = str(path.parent), {"gguf_file": path.name}
    body = AutoModelForCausalLM.from_pretrained(name, dtype=dtype, **options)
    tokenizer = AutoTokenizer.from_pretrained(name, **options)
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return CausalReranker(body, tokenizer, tokens).to(device)
