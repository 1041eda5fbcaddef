"""Tiny models with random weights, of the architectures that are used, in folders as the hub has them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

_NOUNS = "the a of film street amber road birch light keeper forest yes no who made judge document query answer"
_SIGNS = ': . < > [ ] , " ?'
WORDS = (*_NOUNS.split(), *(f"w{number}" for number in range(40)), *_SIGNS.split())
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }} {{ message.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant{% endif %}"
)


def _tokenizer(special: Sequence[str], **names: str) -> PreTrainedTokenizerFast:
    vocabulary = {word: place for place, word in enumerate([*special, *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()])
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", **names)


def bert(folder: Path, seed: int = 0) -> str:
    """Write a BERT of two layers, and return the folder's name."""
    tokenizer = _tokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]"], cls_token="[CLS]", sep_token="[SEP]")
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def qwen3(folder: Path, seed: int = 0, *, chat: bool = True, words: bool = True) -> str:
    """Write a Qwen3 of two layers, and return the folder's name; without `words`, it has no token for yes."""
    tokenizer = _tokenizer(["[PAD]", "[UNK]", "<|im_start|>", "<|im_end|>"], eos_token="<|im_end|>")
    if not words:
        tokenizer = _tokenizer(["[PAD]", "[UNK]", "<|im_end|>"], eos_token="<|im_end|>")
        vocabulary = {"[PAD]": 0, "[UNK]": 1, "<|im_end|>": 2, "y": 3, "e": 4, "s": 5, "n": 6, "o": 7}
        split = Tokenizer(models.BPE(vocabulary, [], unk_token="[UNK]"))
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=split, pad_token="[PAD]", eos_token="<|im_end|>")
    tokenizer.chat_template = CHAT if chat else None
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=max(len(tokenizer), 80), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, head_dim=8, intermediate_size=32, max_position_embeddings=256, tie_word_embeddings=True,
    )  # fmt: skip
    Qwen3ForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)
