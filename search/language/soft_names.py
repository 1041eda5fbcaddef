"""Nodes that a phrase describes or nearly names, looked up for content words that nothing else in a question explains.

soft_names("what is made from foxglove", [(18, 26)], tools)
→ [Named(mention=Mention(18, 26, "foxglove", keys=(12,), similarity=0.45, how="described"), …)]

Five ways: an everyday word for a name (`Holland`); a word of the name of a kind (`KindNames`); a rare word, or a
phrase, that stands in the texts of few nodes (a plant in the description of a drug); a name with nearly the same
letters, which may be the same words in another language; a name whose vector is near.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.vector_kinds import NAME, RELATION
from search.interfaces import Encoder, How, Mention, MentionIndex, NodeStore, TextIndex, VectorIndex
from search.language.common import is_word
from search.language.everyday import everyday_names
from search.language.kind_names import KindNames
from search.language.names import NamedPart
from search.language.words import FUNCTION_WORDS, stem, words
from search.text import field_text

MOST_SPANS = 6
"""Most stretches of a question that are looked up."""
MOST_DESCRIBED = 4
"""Most nodes in whose texts a phrase stands; in more, it describes none of them."""
_RARE = 50
"""Most nodes of at least one word of a phrase."""
_PHRASE, _COMMON_PHRASE, _WORD = 0.55, 0.35, 0.45
"""Similarity of a phrase that stands in a text as it is, of such a phrase of common words, of a single rare word."""
_TRANSLATED = 0.7
"""What the similarity of letters is multiplied with, because words that look alike need not mean the same."""
_NEAR, _NEAR_PHRASE, _AHEAD = 0.65, 0.55, 0.1
"""Least cosine of a name and a word, of a name and a phrase of several words, and least lead over the fifth name.
Chosen on invented phrases."""
_BELIEVED = 0.55
"""What the cosine of a near name is multiplied with."""
_COMPARED = 5


@dataclass(frozen=True)
class SoftTools:
    """What soft names are looked up in. `vectors` and `encoder` may be None: then no name is found by its vector.

    `kinds` are the codes of the types whose nodes are kinds of others.
    """

    text: TextIndex
    nodes: NodeStore
    mentions: MentionIndex
    vectors: VectorIndex | None = None
    encoder: Encoder | None = None
    kinds: frozenset[int] = frozenset()

    @property
    def kind_names(self) -> KindNames:
        """What finds the names of kinds."""
        return KindNames(self.mentions, self.nodes, self.text, self.kinds)


def soft_names(
    text: str,
    spans: Sequence[tuple[int, int]],
    tools: SoftTools,
    most: int = 3,
    *,
    unsaid: Sequence[tuple[int, int]] = (),
    code: str = "en",
) -> list[NamedPart]:
    """Return nodes that the stretches of a question describe or nearly name, the surest first, up to `most`.

    `spans` are stretches of content words that no name, value, relation or type explains, as offsets into the text;
    neighbouring words belong into one stretch. `mention.how` is `synonym`, `described`, `near` or `translated`, and
    `mention.similarity`, below 1, says how sure the find is. In the stretches `unsaid`, which are explained only by
    what they are like (*feel dizzy* is like a symptom), everyday words and, for several words, near names are looked
    up. `code` is the language of the text. Raises StageError if an index fails.
    """
    wanted = [(start, end) for start, end in spans if _content(text[start:end])][:MOST_SPANS]
    like = [span for span in unsaid if span not in wanted and _content(text[slice(*span)])][:MOST_SPANS]
    everyday = _disjoint([*like, *wanted])
    found = [mention for start, end in everyday for mention in everyday_names(text, start, end, tools.mentions, code)]
    found += list(tools.kind_names.of(text, _free(everyday, found)))
    wanted, like = _free(wanted, found), _free(like, found)
    found += [mention for start, end in wanted for mention in _of_letters_and_texts(text, start, end, tools)]
    phrases = [(start, end) for start, end in like if len(_content(text[start:end])) > 1]
    found += _near(text, _free(_disjoint([*phrases, *wanted]), found), tools)
    best: dict[tuple[int, int, tuple[int, ...]], Mention] = {}
    for mention in sorted(found, key=lambda one: -one.similarity):
        best.setdefault((mention.start, mention.end, mention.keys), mention)
    return [_named(text, mention) for mention in list(best.values())[:most]]


def _disjoint(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the stretches that share nothing with one before them in the list."""
    kept: list[tuple[int, int]] = []
    for start, end in spans:
        if not any(first < end and start < last for first, last in kept):
            kept.append((start, end))
    return kept


def _free(spans: Sequence[tuple[int, int]], found: Sequence[Mention]) -> list[tuple[int, int]]:
    """Return the stretches in which nothing was found."""
    return [(start, end) for start, end in spans if not any(one.start < end and start < one.end for one in found)]


def _of_letters_and_texts(text: str, start: int, end: int, tools: SoftTools) -> list[Mention]:
    """Return the names with nearly the letters of a stretch, and the nodes whose texts have its words.

    Words that the texts have mean what they mean there, and are no other language's word for a name (*stoves*, Stone).
    """
    own = all(tools.text.postings(word) for word in _content(text[start:end]))
    found = [
        _mention(text, start, end, one.keys, _TRANSLATED * one.similarity, "translated", one.meant)
        for one in (() if own else tools.mentions.translated(text, start, end))
    ]
    described = list(_described(text, start, end, tools))
    if not described and len(_content(text[start:end])) > 1:
        # The words of a stretch need not belong together: one of them alone may describe something.
        described = [
            mention for first, last in _single(text, start, end) for mention in _described(text, first, last, tools)
        ]
    return found + described


def _described(text: str, start: int, end: int, tools: SoftTools) -> Iterator[Mention]:
    """Yield a mention of the few nodes that have all words of a stretch in one of their text fields."""
    said = text[start:end]
    many = len(_content(said))
    if not many or (many == 1 and not _telling(said)):
        return
    keys: set[int] = set()
    for field in tools.text.fields:
        if field.startswith(RELATION):
            continue
        postings = [nodes for nodes, _ in tools.text.postings(said, field)]
        if len(postings) < many or min(map(len, postings), default=0) > _RARE:
            continue
        shared = postings[0]
        for nodes in postings[1:]:
            shared = np.intersect1d(shared, nodes)
        keys.update(shared[: MOST_DESCRIBED + 1].tolist())
    if not 0 < len(keys) <= MOST_DESCRIBED:
        return
    phrase = [stem(word) for word in words(said)]
    holding = tools.nodes.nodes(sorted(keys))
    whole = [node for node in holding if any(_stands(phrase, field_text(value)) for value in node.fields.values())]
    if whole:
        similarity = _WORD if many == 1 else _PHRASE if _telling(said) else _COMMON_PHRASE
        keyed = [node.key for node in whole]
        yield _mention(text, start, end, keyed, similarity / len(whole) ** 0.5, "described", whole[0].name)


def _telling(phrase: str) -> bool:
    """Whether a phrase has a word that is no common one: a plant, a technical term."""
    return any(not is_word(word, "en") for word in _content(phrase))


def _stands(phrase: Sequence[str], text: str) -> bool:
    """Whether the stems of a phrase stand in a text one after the other."""
    stems = [stem(word) for word in words(text)]
    size = len(phrase)
    return any(stems[at : at + size] == list(phrase) for at in range(len(stems) - size + 1))


def _near(text: str, spans: Sequence[tuple[int, int]], tools: SoftTools) -> Iterator[Mention]:
    """Yield the node with the nearest name of each stretch, if it is near and well ahead of others."""
    vectors, encoder = tools.vectors, tools.encoder
    if vectors is None or encoder is None or not spans or NAME not in vectors.kinds:
        return
    encoded = encoder.encode([text[start:end] for start, end in spans])
    for (start, end), vector in zip(spans, encoded, strict=True):
        nearest = vectors.nearest(NAME, vector, _COMPARED)
        least = _NEAR if len(_content(text[start:end])) < 2 else _NEAR_PHRASE
        if nearest and nearest[0].score >= least and nearest[0].score - nearest[-1].score >= _AHEAD:
            key = nearest[0].key
            meant = tools.nodes.references([key])[0].name
            yield _mention(text, start, end, [key], _BELIEVED * float(nearest[0].score), "near", meant)


def _single(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the stretches of the single words of content in a stretch."""
    at = start
    for word in text[start:end].split():
        at = text.index(word, at)
        if _content(word):
            yield at, at + len(word.rstrip(".,;:!?"))
        at += len(word)


def _content(phrase: str) -> list[str]:
    return [word for word in words(phrase) if word not in FUNCTION_WORDS]


def _mention(text: str, start: int, end: int, keys: Sequence[int], similarity: float, how: How, meant: str) -> Mention:
    exact = tuple(False for _ in keys)
    return Mention(start, end, text[start:end], tuple(keys), exact, round(similarity, 4), how, meant)


def _named(text: str, mention: Mention) -> NamedPart:
    said = words(mention.text)
    inside = mention.start > 0 and any(letter.isupper() for letter in mention.text)
    exact = any(mention.exact)
    return NamedPart(mention, len(said), quoted=False, capitalised=inside, exact=exact, ordinary=False)
