"""The only place that turns a node into text: its name, its fields, its document with and without relations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from search.domain.graph import FieldValue, Node
from search.domain.vector_kinds import CHUNK, DOCUMENT, FIELD, NAME, PASSAGE, PROSE, RELATION, WHOLE

NAMES_PER_RELATION = 10
CHUNK_WORDS, CHUNK_SHARED = 150, 30
PASSAGE_CHARACTERS, PASSAGE_WORDS, PASSAGE_SHARED, PASSAGES = 110, 50, 5, 40
"""Characters below which sentences are joined, most words of a passage, words shared, most passages of a node."""
PROSE_WORDS = 6
"""Fewest words of a field's value that counts as prose."""
PROSE_SHARE = 0.6
"""Largest share of its document's characters with which prose has a vector of its own: a document that is mostly prose
is near to what describes it already, and encoding it twice would double the time of an import."""
CHARACTERS_A_WORD = 12
"""Most characters of a word of a cut field, on average: for texts without spaces."""
SENTENCE_ENDS = re.compile(r"(?<=[.;!?])\s+|\n+")
_WORDS_APART = re.compile(r"[_\s]+")


@lru_cache(maxsize=10_000)
def words(identifier: str) -> str:
    """Return the words of a type's, relation's or field's name: `HAS_BRAND` → `has brand`."""
    return _WORDS_APART.sub(" ", identifier).strip().lower()


def path_text(path: Sequence[Mapping[str, Any]]) -> str:
    """Return a path of a described search as one line: `Amber Road — directed by → Ada Holm`.

    The arrows point in the stored direction of the edges.
    """
    parts = []
    for item in path:
        if "node" in item:
            parts.append(str(item["node"]["name"]))
        else:
            left, right = ("—", "→") if item["direction"] == "out" else ("←", "—")
            parts.append(f"{left} {words(item['relation'])} {right}")
    return " ".join(parts)


def name_text(node: Node) -> str:
    """Return the text of the name index: the name and its aliases."""
    return " | ".join([node.name, *node.aliases])


def field_text(value: FieldValue) -> str:
    """Return a field's value as text; the items of a list are separated by semicolons."""
    if isinstance(value, list):
        return "; ".join(str(item) for item in value)
    return str(value)


def document(node: Node, neighbours: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return a node's document: type, name, aliases, fields, then names of neighbours by relation if they are given."""
    lines = [f"{words(node.type)}: {node.name}"]
    if node.aliases:
        lines.append(f"also known as {'; '.join(node.aliases)}")
    lines += [f"{words(name)}: {text}" for name, value in node.fields.items() if (text := field_text(value))]
    for relation, names in (neighbours or {}).items():
        lines.append(f"{words(relation)}: {relation_text(names)}")
    return "\n".join(lines)


def vector_texts(kind: str, node: Node, neighbours: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what is embedded of a node for a kind of vectors; empty where the node has nothing of it.

    `neighbours` are the names of up to `NAMES_PER_RELATION` neighbours by relation.
    """
    if kind.startswith(FIELD):
        value = node.fields.get(kind.removeprefix(FIELD))
        found = [] if value is None else [field_text(value)]
        return [one for one in found if one.strip()]
    if kind.startswith(RELATION):
        return [one for one in [relation_text(neighbours.get(kind.removeprefix(RELATION), ()))] if one.strip()]
    if kind in (CHUNK, PASSAGE):
        return {CHUNK: chunks, PASSAGE: passages}[kind](node)
    if kind == PROSE:
        said = prose(node)
        return [said] if 0 < len(said) <= PROSE_SHARE * len(document(node, neighbours)) else []
    return [{NAME: name_text, DOCUMENT: document}[kind](node)] if kind != WHOLE else [document(node, neighbours)]


def prose(node: Node) -> str:
    """Return the type and the fields that hold prose; empty for a node without such fields.

    A question that describes something does not say its name, and a name that nobody says moves a vector away.
    """
    said = [text for value in node.fields.values() if not is_link(value) and is_prose(text := field_text(value))]
    return f"{words(node.type)}: {' '.join(said)}" if said else ""


def is_prose(text: str) -> bool:
    """Return whether a text has at least `PROSE_WORDS` words."""
    return len(text.split(None, PROSE_WORDS)) >= PROSE_WORDS


def relation_text(names: Sequence[str]) -> str:
    """Return the names of a node's neighbours over one relation as text."""
    return "; ".join(names[:NAMES_PER_RELATION])


@dataclass(frozen=True, slots=True)
class DocumentForm:
    """How much of a node a reranker reads: words of each field, and names of neighbours over each relation.

    GRASP (section on reranking) cuts a field after 300 tokens, which are about 225 English words. Words are counted
    here, because the tokens of a reranker behind a server are not known.
    """

    field_words: int = 225
    names: int = NAMES_PER_RELATION

    def to_json(self) -> dict[str, int]:
        """Return the form as a JSON object."""
        return asdict(self)


def reranker_document(node: Node, neighbours: Mapping[str, Sequence[str]], form: DocumentForm) -> str:
    """Return the document that a reranker reads, in training and in use (GRASP, section on reranking).

    It has one line for type and name, one for the aliases, one for each field, and one for each relation with the names
    of neighbours, both directions together. A field is cut after `form.field_words` words.
    """
    lines = [f"[{words(node.type)}] {node.name}"]
    if node.aliases:
        lines.append(f"[also known as] {_first_words('; '.join(node.aliases), form.field_words)}")
    for name, value in node.fields.items():
        if text := field_text(value):
            lines.append(f"[{words(name)}] {_first_words(text, form.field_words)}")
    for relation, names in neighbours.items():
        if kept := names[: form.names]:
            lines.append(f"[{words(relation)}] {'; '.join(kept)}")
    return "\n".join(lines)


def _first_words(text: str, count: int) -> str:
    """Return the first words of a text, separated by single spaces, in at most `CHARACTERS_A_WORD` characters each."""
    return " ".join(text.split(None, count)[:count])[: count * CHARACTERS_A_WORD]


def chunks(node: Node) -> list[str]:
    """Return the stretches of a node's document that get vectors; every stretch after the first is headed by its name.

    A stretch has `CHUNK_WORDS` words and shares `CHUNK_SHARED` words with the next one, so that a sentence cut in one
    stretch is usually whole in another. A short document is one stretch.
    """
    said = document(node).split()
    step = CHUNK_WORDS - CHUNK_SHARED
    starts = range(0, max(1, len(said) - CHUNK_SHARED), step)
    return [" ".join(said[at : at + CHUNK_WORDS]) if not at else f"{node.name}: {' '.join(said[at : at + CHUNK_WORDS])}"
            for at in starts]  # fmt: skip


def passages(node: Node) -> list[str]:
    """Return the sentences of a node's fields that get vectors: short ones together, long ones in parts.

    A part has `PASSAGE_WORDS` words and shares `PASSAGE_SHARED` words with the next one. Only the first `PASSAGES` are
    returned. They do not hold the node's name: a question asks for the node and does not say its name. A node without
    text has its name alone.
    """
    said = " ".join(field_text(value) for value in node.fields.values() if not is_link(value))
    joined = [""]
    for sentence in map(str.strip, SENTENCE_ENDS.split(said)):
        if len(joined[-1]) + len(sentence) < PASSAGE_CHARACTERS:
            joined[-1] = f"{joined[-1]} {sentence}".strip()
        else:
            joined.append(sentence)
    step = PASSAGE_WORDS - PASSAGE_SHARED
    cut = [
        " ".join(own[at : at + PASSAGE_WORDS])
        for own in (one.split() for one in joined if one)
        for at in range(0, len(own), step)
    ]
    return cut[:PASSAGES] or [node.name]


def is_link(value: FieldValue) -> bool:
    """Return whether a field's value is a web address."""
    return isinstance(value, str) and value.startswith(("http://", "https://"))
