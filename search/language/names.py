"""The stretches of a question that name nodes, with the evidence for each (docs/planning.md, point 2)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from search.domain.graph import Schema
from search.interfaces import How, Mention, MentionIndex
from search.language.everyday import everyday_names
from search.language.words import ASKING_WORDS, FUNCTION_WORDS, stem, words
from search.text import words as split_identifier

_QUOTED = re.compile(r"[\"“”«»„]([^\"“”«»„]+)[\"“”«»„]|(?<!\w)['‘]([^'‘’]+)['’](?!\w)")

_BEFORE_TEXT = " \t\n\"'“‘«¿¡("
"""Characters that may stand before the first word of a question."""


_WHICH = re.compile(r"\b(?:which|what)\s+", re.IGNORECASE)
_INFLECTED: frozenset[How] = frozenset(("plural", "possessive"))
"""Ways to find a name by words that are inflected otherwise."""
_QUOTED_SURE, _MARKED_SURE, _LONG_SURE, _EXACT_SURE, _LIKE_SURE = 0.95, 0.9, 0.7, 0.5, 0.25
"""Confidence in a name, in [0, 1], by its evidence. In this order: the question quotes the name; the name has a capital
and the case of the stored name; it has several words; it is one word with the case of the stored name; any other name.
The values are round numbers chosen by hand to order the evidence. They were not fitted to data."""


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A mention with the evidence that it is a name.

    `words` is its number of words. `quoted` and `capitalised` say how the question marks it. `exact` says that its case
    agrees with a stored name. `ordinary` says that all its words are ordinary words (see `ordinary_words`). `any_of`
    says that it is a list of names of which any is meant: *red or navy*.
    """

    mention: Mention
    words: int
    quoted: bool
    capitalised: bool
    exact: bool
    ordinary: bool
    any_of: bool = False

    @property
    def sure(self) -> float:
        """The confidence, in [0, 1], that the stretch is a name; it does not say which of several nodes is meant."""
        if self.quoted:
            sure = _QUOTED_SURE
        elif self.capitalised and self.exact:
            sure = _MARKED_SURE
        elif self.words > 1:
            sure = _LONG_SURE
        else:
            sure = _EXACT_SURE if self.exact else _LIKE_SURE
        return sure * self.mention.similarity

    @property
    def how(self) -> How:
        """By which way the name was found."""
        return self.mention.how

    @property
    def marked(self) -> bool:
        """Whether the question marks this as a name, by quotes or capitals."""
        return self.quoted or self.capitalised

    def overlaps(self, other: NamedPart) -> bool:
        """Whether both mentions share some words of the question."""
        return self.mention.start < other.mention.end and other.mention.start < self.mention.end

    def contains(self, other: NamedPart) -> bool:
        """Whether the other mention is a proper part of this one."""
        mine, its = self.mention, other.mention
        return mine.start <= its.start and its.end <= mine.end and (mine.start, mine.end) != (its.start, its.end)


def schema_words(schema: Schema) -> frozenset[str]:
    """Return the stems of all words in the names, aliases and descriptions of a schema, without function words."""
    called = [*_types_said(schema), *_relations_said(schema)]
    return frozenset(stem(word) for phrase in called for word in words(phrase) if word not in FUNCTION_WORDS)


def schema_forms(schema: Schema) -> frozenset[str]:
    """Return the words of a schema as questions write them: those of its names, aliases and descriptions, and plurals.

    Only words of letters count.
    """
    kinds = [said for phrase in _types_said(schema) for said in words(phrase)]
    others = [said for phrase in (*_relations_said(schema), *_fields_said(schema)) for said in words(phrase)]
    return frozenset(said for said in (*kinds, *(f"{kind}s" for kind in kinds), *others) if said.isalpha())


def _types_said(schema: Schema) -> list[str]:
    """Return for each node type its name and aliases as one text."""
    return [" ".join([split_identifier(kind.name), *kind.aliases]) for kind in schema.node_types]


def _fields_said(schema: Schema) -> list[str]:
    """Return the names of all fields."""
    return [split_identifier(one.name) for kind in schema.node_types for one in kind.fields]


def _relations_said(schema: Schema) -> list[str]:
    """Return for each relation its name, description, inverse wording and aliases as one text."""
    return [
        " ".join([split_identifier(one.name), one.description, one.inverse, *one.aliases]) for one in schema.relations
    ]


def ordinary_words(schema: Schema) -> frozenset[str]:
    """Return the stems of ordinary words, which alone name no node: function words, words of asking, schema words."""
    return schema_words(schema) | {stem(word) for word in (*FUNCTION_WORDS, *ASKING_WORDS)}


def find_names(
    text: str, index: MentionIndex, ordinary: frozenset[str], most: int, language: str = "en"
) -> list[NamedPart]:
    """Return up to `most` mentions from which plans should start, in the order of the question.

    A mention of ordinary words only is kept only if it is quoted or capitalised, or is a stored name and all of the
    text. A mention inside a longer one is
    dropped, unless the shorter one has better evidence: its case agrees with a stored name and that of the longer one
    does not, or both are equal there and only the shorter one is marked by quotes or capitals. A longer mention whose
    spelling was corrected always wins. So does an everyday expression of several words in the given language that
    stands for a name (*high blood pressure*). Both are kept if the longer one is the plural of a name and has only
    words of the schema behind the shorter one (*hypertension pathways*); behind *which* only the shorter one is.
    """
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    begins = len(text) - len(text.lstrip(_BEFORE_TEXT))
    cased = not text.isupper()
    near = _Spans(quoted)
    mentions = [*index.find(text), *everyday_names(text, 0, len(text), index, language, least=2)]
    named = [_named(text, mention, near, ordinary, begins, cased=cased) for mention in mentions]
    alone = words(text)
    named = [
        name
        for name in named
        if not name.ordinary or name.marked or (name.how == "name" and words(name.mention.text) == alone)
    ]
    kept = _unbeaten(_without_heads(text, named, ordinary), ordinary)
    kept.sort(key=lambda name: (name.quoted, name.marked and name.exact, name.exact, name.words), reverse=True)
    return sorted(kept[:most], key=lambda name: (name.mention.start, -name.mention.end))


class _Spans:
    """Stretches of a text that do not overlap, indexed by their start."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._spans = spans
        self._starts = [first for first, _ in spans]

    def near(self, start: int, end: int, slack: int) -> bool:
        """Whether a stretch begins within `slack` characters of `start` and ends within `slack` characters of `end`."""
        for at in range(bisect_left(self._starts, start - slack), bisect_right(self._starts, start + slack)):
            if abs(self._spans[at][1] - end) <= slack:
                return True
        return False


def _named(
    text: str, mention: Mention, quoted: _Spans, ordinary: frozenset[str], begins: int, *, cased: bool
) -> NamedPart:
    """Return a mention with its evidence.

    `begins` is the offset of the first word of the question. `cased` is False if the text is all in capitals.
    """
    said = words(mention.text)
    spelled = [mention.text, *([mention.meant] if mention.how == "spelling" else [])]
    return NamedPart(
        mention=mention,
        words=max(1, len(said)),
        quoted=quoted.near(mention.start, mention.end, 2),
        capitalised=cased and _capitalised(mention, begins_text=mention.start <= begins),
        exact=any(mention.exact),
        # A misspelt word of the schema is no name either: *metabolised* is not the node Metabolite.
        ordinary=any(bool(said) and all(stem(word) in ordinary for word in said) for said in map(words, spelled)),
    )


def _capitalised(mention: Mention, *, begins_text: bool) -> bool:
    """Whether a word of the mention, other than the first of the question, begins with a capital or a digit."""
    initials = [match.group()[0] for match in re.finditer(r"[^\W_]+", mention.text)]
    return any(letter.isupper() or letter.isdigit() for letter in (initials[1:] if begins_text else initials))


def _unbeaten(named: Sequence[NamedPart], ordinary: frozenset[str]) -> list[NamedPart]:
    """Return the mentions that no longer mention beats. Only mentions close enough to contain each are compared."""
    ordered = sorted(named, key=lambda name: name.mention.start)
    starts = [name.mention.start for name in ordered]
    widest = max((name.mention.end - name.mention.start for name in named), default=0)

    def beaten(name: NamedPart) -> bool:
        first = bisect_left(starts, name.mention.end - widest)
        last = bisect_right(starts, name.mention.start)
        return any(_beats(ordered[at], name, ordinary) for at in range(first, last))

    return [name for name in named if not beaten(name)]


def _beats(longer: NamedPart, shorter: NamedPart, ordinary: frozenset[str]) -> bool:
    if not longer.contains(shorter):
        return False
    if longer.mention.how in _INFLECTED and shorter.mention.similarity == 1.0 and _splits(longer, shorter, ordinary):
        return False
    sure, surer = (longer.exact, longer.marked), (shorter.exact, shorter.marked)
    return sure >= surer or longer.mention.similarity < 1.0


def _splits(longer: NamedPart, shorter: NamedPart, ordinary: frozenset[str]) -> bool:
    """Whether a name is a shorter one with the schema's own words behind it: *hypertension pathways*.

    Then it may as well ask for the pathways of hypertension.
    """
    mine, its = longer.mention, shorter.mention
    behind = words(mine.text[its.end - its.start :])
    inside = longer.contains(shorter) and mine.start == its.start
    return inside and not shorter.ordinary and all(stem(word) in ordinary for word in behind)


def _without_heads(text: str, named: Sequence[NamedPart], ordinary: frozenset[str]) -> list[NamedPart]:
    """Return the mentions without those that *which* asks for: in *which hypertension pathways*, only *hypertension*.

    What *which* stands right before has not been named, so there the name with words of the schema behind it goes.
    """
    asking = {match.end() for match in _WHICH.finditer(text)}
    at: dict[int, list[NamedPart]] = {}
    for name in named:
        at.setdefault(name.mention.start, []).append(name)

    def is_head(name: NamedPart) -> bool:
        start = name.mention.start
        asked = start in asking and not name.quoted
        return asked and any(_splits(name, other, ordinary) for other in at[start])

    return [name for name in named if not is_head(name)]
