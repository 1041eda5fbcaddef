"""What a participle of a field's name before the answers' type says: *inherited diseases* have an inheritance."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from search.domain.plan import Filter
from search.language.cues import Span
from search.language.languages import language
from search.language.question import Word
from search.language.words import stem
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.fields import field_stems
from search.stages.plan.write import TARGET

_FIT = 0.9
_DONE = language("en").entries("superlatives", "participle_ends")


def having(core: Core) -> Iterator[list[Condition]]:
    """Yield for each such participle the condition that an answer has the field, if not all answers have it."""
    lexicon, said = core.knowledge.lexicon, core.question.said
    own = (lexicon.relations + core.type_code,)
    for word, noun in itertools.pairwise(said):
        if (
            word.text.endswith(_DONE)
            and word.content
            and lexicon.explains(own, noun.text)
            and not lexicon.says(word.text)
        ):
            found = [_has(core, word, one.name) for one in core.kind.fields
                     if stem(word.text) in field_stems(one) and one.coverage < core.kind.count]  # fmt: skip
            if found:
                yield found[:1]


def participles(core: Core) -> set[Span]:
    """Return the spans of the participles that are such conditions."""
    return {one.cue for several in having(core) for one in several}


def _has(core: Core, word: Word, field: str) -> Condition:
    span = (word.start, word.start + len(word.text))
    return Condition(span, _FIT, filters=(Filter(TARGET, field, "exists"),), spans=(span,))
