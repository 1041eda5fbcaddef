"""Texts of nodes: their words, their sentences, and how a node's own name is taken out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from search.domain.graph import Node, Schema
from search.text import field_text, is_prose

LONGEST = 8_000
"""Characters of a text that are read: a question is about a node, not about a book."""
_MARKUP = re.compile(r"<[^<>]{1,40}>")
_SENTENCE = re.compile(r"(?<=[.!?;。！？；])\s+|(?<=[。！？；])|\n+")
_APART = r"[\W_]+"
_WORD = re.compile(r"[^\W_]+")


def own_text(node: Node, schema: Schema) -> str:
    """Return the prose of a node: the values of its text fields that are longer than a few words, without markup."""
    kinds = {field.name: field.kind for field in schema.node_type(node.type).fields}
    texts = [
        field_text(value) for name, value in node.fields.items() if kinds.get(name, "text") == "text" and value
    ]  # fmt: skip
    prose = " \n".join(filter(is_prose, texts))
    return _MARKUP.sub("", prose[:LONGEST])


def sentences(text: str) -> list[str]:
    """Return the sentences of a text, without white space around them."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def plain(text: str) -> str:
    """Return the words of a text in lower case (NFKC) with one space between and around them."""
    return f" {' '.join(_WORD.findall(unicodedata.normalize('NFKC', text).casefold()))} "


def text_words(text: str) -> frozenset[str]:
    """Return the words of a text in lower case."""
    return frozenset(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def all_words(node: Node) -> frozenset[str]:
    """Return the words of a node's name, aliases and fields in lower case, without markup."""
    parts = [node.name, *node.aliases, *map(field_text, node.fields.values())]
    return text_words(_MARKUP.sub("", "\n".join(parts)))


def without_names(text: str, names: Iterable[str], instead: str = "") -> str:
    """Return the text with every occurrence of the names replaced, whatever their case; the longest names first."""
    for name in sorted({name for name in names if name.strip()}, key=lambda name: (-len(name), name)):
        parts = [re.escape(part) for part in _WORD.findall(name)]
        if parts:
            text = re.sub(rf"(?<!\w){_APART.join(parts)}(?!\w)", instead, text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", text).strip()


def names_in(question: str, names: Iterable[str]) -> bool:
    """Return whether a question holds any of the names as whole words, whatever their case and punctuation."""
    said = plain(question)
    return any(words != "  " and words in said for words in map(plain, names))
