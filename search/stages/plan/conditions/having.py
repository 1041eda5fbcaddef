"""What a participle of a field's name says of the answers' type: *inherited diseases* have an inheritance.

It stands before the type, or behind it with a form of *be*: *which diseases are inherited*.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from search.domain.plan import Filter
from search.language.cues import Span, Superlative
from search.language.languages import language
from search.language.question import Word
from search.language.words import BEING, stem
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.measures import field_stems
from search.stages.plan.write import TARGET

_FIT = 0.9
_RELATIVE = language("en").set("turning", "relative")
_DONE = language("en").entries("superlatives", "participle_ends")


def having(core: Core) -> Iterator[list[Condition]]:
    """Yield for each such participle the condition that an answer has the field, if not all answers have it."""
    lexicon, said = core.knowledge.lexicon, core.question.said
    own = (lexicon.relations + core.type_code,)
    for at, word in enumerate(said):
        if not word.text.endswith(_DONE) or not word.content or lexicon.says(word.text):
            continue
        behind = at + 1 < len(said) and lexicon.explains(own, said[at + 1].text)
        if behind or (at + 1 == len(said) and _is_predicate(said[:at], lambda noun: lexicon.explains(own, noun))):
            found = [_has(core, word, one.name) for one in core.kind.fields
                     if stem(word.text) in field_stems(one) and one.coverage < core.kind.count]  # fmt: skip
            if found:
                yield found[:1]


def _is_predicate(before: Sequence[Word], is_type: Callable[[str], bool]) -> bool:
    """Whether words end with the type and a form of *be*: *diseases that are*."""
    rest = list(before)
    if not rest or rest.pop().text not in BEING:
        return False
    while rest and rest[-1].text in _RELATIVE:
        rest.pop()
    return bool(rest) and is_type(rest[-1].text)


def of_a_field(core: Core, cue: Superlative) -> Superlative:
    """Return a superlative of a participle as one of the noun behind it, if the participle is about a field of that.

    *The most inherited diseases* are not inherited most: there are most diseases, inherited ones.
    """
    lexicon, schema = core.knowledge.lexicon, core.knowledge.schema
    noun = next((one for one in core.question.said if one.start >= cue.end and one.content), None)
    if noun is None or cue.counted is None or not cue.word.endswith(_DONE) or lexicon.says(cue.word):
        return cue
    kinds = [kind for code, kind in enumerate(schema.node_types)
             if lexicon.explains((lexicon.relations + code,), noun.text)]  # fmt: skip
    if not any(stem(cue.word) in field_stems(one) for kind in kinds for one in kind.fields):
        return cue
    return replace(cue, word="", counted=(noun.start, noun.start + len(noun.text)))


def participles(core: Core) -> set[Span]:
    """Return the spans of the participles that are such conditions."""
    return {one.cue for several in having(core) for one in several}


def _has(core: Core, word: Word, field: str) -> Condition:
    span = (word.start, word.start + len(word.text))
    return Condition(span, _FIT, filters=(Filter(TARGET, field, "exists"),), spans=(span,))
