"""What a superlative orders answers by: a field of theirs, or the number of nodes that they are joined with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from search.domain.graph import ANY, Direction
from search.domain.plan import Count, Order
from search.language.cues import Span, Superlative
from search.language.question import AnalysedQuestion
from search.language.reading.scales import scales_of
from search.language.tokens import tokens
from search.language.words import stem, stems
from search.stages.plan.conditions.among import names_counted, of_its_own, on_the_way
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.fields import FieldMeanings, naming
from search.stages.plan.conditions.having import of_a_field
from search.stages.plan.conditions.paths import direction_said, is_noun, path_fit, relation_word
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.scoring.align import elements

_MOST = 3
_AGAINST = 0.4
"""Factor of a count against the direction that the wording says."""
_COUNTED = 0.4
"""Least fit of a relation that is counted."""
_BESIDE = 0.3
"""Worth of a word elsewhere in the question that names the relation: `who directed the most films`."""
_MANY = stems("common frequent popular widespread prolific productive active busy used")
"""Words for having many of something, without saying of what."""
_NAMED = 0.8
"""Fit of counting what a name selects, where the counted words are that name: `the most tents`."""
_OTHER = 0.7
"""Factor of counting all nodes where those on the way are meant, and the other way round."""
_USUAL = 0.3
"""Fit of counting the relation with the most edges, where the counted words fit none."""


def graded(question: AnalysedQuestion) -> Iterator[Superlative]:
    """Yield what the attributes of a bare phrase order all answers by: *cheap tents* begin with the cheapest.

    What a text is to be about orders nothing: *papers about old handwriting*.
    """
    scales, text = scales_of(question.cues.language), question.text
    topics = {word.start for word in question.topics}
    for start, end in question.attributes:
        if start not in topics and (found := scales.positive.at(tokens(text[start:end]), 0)):
            word, scale = found[1].word, found[1].scale
            yield Superlative(
                start, end, word, "desc" if found[1].end == "high" else "asc", scale.names, scale.unit, limit=0,
                against=scale.against,
            )  # fmt: skip


@dataclass(frozen=True)
class Orders:
    """Binds superlatives to an answer type."""

    fields: FieldMeanings

    def of(self, core: Core) -> Iterator[list[Condition]]:
        """Yield the possible meanings of each superlative."""
        for cue in core.question.superlatives:
            cue = of_a_field(core, cue)
            counts = [] if self._is_measured(core, cue) else self.by_count(core, cue)
            yield best([*self._by_field(core, cue), *counts], _MOST)
        for cue in graded(core.question):
            yield best([*self._by_field(core, cue)], 1)

    def _by_field(self, core: Core, cue: Superlative) -> Iterator[Condition]:
        spans = ((cue.start, cue.end), *([cue.counted] if cue.counted else []))
        for one, fit in self.fields.counted(core.kind, counted_words(core.question, cue)):
            order = Order(one.name, cue.direction, cue.limit or None)
            yield Condition((cue.start, cue.end), fit, order=order, spans=(*spans, *naming(core, one)))
        for one, fit in (against := self.fields.against(core.kind, cue.scale, cue.against)):
            order = Order(one.name, "asc" if cue.direction == "desc" else "desc", cue.limit or None)
            yield Condition((cue.start, cue.end), fit, order=order, spans=((cue.start, cue.end), *naming(core, one)))
        said = [*([cue.word] if cue.word else []), *cue.scale]
        nearby = core.question.content_in((cue.end, cue.end + 40))[:3] if not cue.word else []
        opposite = {one.name for one, _ in against}
        for one, fit in self.fields.fits(core.kind, [*said, *(word.text for word in nearby)], cue.unit):
            if one.name in opposite:
                continue
            order = Order(one.name, cue.direction, cue.limit or None)
            # Words that are counted say a number of nodes, unless a field has just their name.
            fit = fit / 2 if cue.counted is not None and not cue.word else fit
            yield Condition((cue.start, cue.end), fit, order=order, spans=((cue.start, cue.end), *naming(core, one)))

    def _is_measured(self, core: Core, cue: Superlative) -> bool:
        """Whether a field holds the number of what is counted, and no relation or type is named so: *most pages*."""
        said = counted_words(core.question, cue)
        return bool(self.fields.counted(core.kind, said)) and not any(map(core.knowledge.lexicon.says, said))

    def by_count(self, core: Core, cue: Superlative) -> Iterator[Condition]:
        """Yield the orders by a number of neighbours that a cue may mean."""
        counted = self._counted(core, cue)
        if not counted and stem(cue.word) not in _MANY and not _counts_names(core, cue):
            return
        found: list[tuple[int, Condition]] = []
        for relation, way, code, far in _joined(core):
            known = core.knowledge
            own = known.schema.relations[relation]
            path = Metapath(core.type_code, (SchemaStep(relation, way, code),))
            fit = path_fit(known, path, counted, implied=False) if counted else 0.0
            fit = min(1.0, fit + _BESIDE * self._spoken(core, relation))
            if far > 1:
                word = relation_word(core.question, known, relation, cue.start)
                way_said = (
                    "in" if is_noun(core.question, word) else direction_said(core.question, known, relation, None)
                )
                fit *= 1.0 if way_said in (None, way) else _AGAINST
            typed = not counted or not known.lexicon.explains((relation,), counted[-1])
            typed = typed or known.lexicon.explains((known.lexicon.relations + code,), counted[-1])
            # *Most participants* counts those of every type.
            label = known.schema.node_types[code].name if typed and _shared(core, relation, way) else ANY
            count = Count(own.name, None if own.mutual else way, label)
            columns = elements((path,), known.lexicon.relations)
            if _names_another(core, counted, columns):
                continue
            edges = known.schema.edges_between[count.rel].get(_pair(core, way, code), 0)
            for which, share, whole in _of_which(core, cue, count, fit, (relation, way, code)):
                order = Order(which, cue.direction, cue.limit or None)
                told = ([(cue.start, cue.end)] if whole else []) + _said_of(core, cue, columns)
                one = Condition((cue.start, cue.end), share, order=order, spans=tuple(told), columns=columns)
                found.append((edges, one))
        fitting = [condition for _, condition in found if cue.counted and condition.score >= _COUNTED]
        yield from fitting
        # A relation with one edge for each node (the country of a store) is not worth counting.
        usual = [(edges, one) for edges, one in found if edges > core.kind.count]
        if usual and not fitting:
            yield replace(max(usual, key=lambda pair: pair[0])[1], score=_USUAL)

    def _spoken(self, core: Core, relation: int) -> float:
        """Return the largest affinity to a relation among the words that the plan's own hops leave over."""
        lexicon, own = core.knowledge.lexicon, {step.relation for path in core.candidate.paths for step in path.steps}
        words = core.question.without(core.candidate.mentions).content
        if relation in own or not words:
            return 0.0
        return float(lexicon.of([word.text for word in words])[:, relation].max())

    def _counted(self, core: Core, cue: Superlative) -> Sequence[str]:
        words = [word.text for word in core.question.content_in(cue.counted)] if cue.counted else []
        return words or ([cue.word] if cue.counted is not None and cue.word else [])


def counted_words(question: AnalysedQuestion, cue: Superlative) -> list[str]:
    """Return the words of what a bare *most* or *fewest* counts."""
    if cue.counted is None or cue.word:
        return []
    return [word.text for word in question.content_in(cue.counted, names=True)]


def _joined(core: Core) -> Iterator[tuple[int, Direction, int, int]]:
    """Yield relation, direction, far type and number of directions that differ, of what answers can have many of."""
    shape = core.knowledge.shape
    for relation in range(len(core.knowledge.schema.relations)):
        ways = core.ways(relation)
        for way in ways:
            for code in sorted(shape.far_ends(core.type_code, relation, way)):
                yield relation, way, code, len(ways)


def _of_which(
    core: Core, cue: Superlative, count: Count, fit: float, step: tuple[int, Direction, int]
) -> Iterator[tuple[Count, float, bool]]:
    """Yield what a count may count, with its fit and whether that says the whole cue.

    What stands on the way to the answers is counted alone (*most papers at the workshop*), unless the count stands in a
    clause of its own.
    """
    way = on_the_way(core, *step)
    if way is None:
        yield count, fit, True
        return
    place, var = way
    own = of_its_own(core, place, (cue.start, cue.end))
    named = cue.counted is not None and names_counted(core, place, cue.counted)
    yield replace(count, among=var), max(fit, _NAMED if named else 0.0) * (_OTHER if own else 1.0), True
    yield count, fit * (1.0 if own else _OTHER), own


def _said_of(core: Core, cue: Superlative, columns: Sequence[int]) -> list[Span]:
    """Return the spans of the counted words that a count says: their noun, and what names its relation or type.

    Another word before the noun says which of them are counted: *the most inherited diseases*.
    """
    if cue.counted is None:
        return []
    words = core.question.content_in(cue.counted, names=True)
    said = [one for one in words[:-1] if core.knowledge.lexicon.explains(columns, one.text)] + words[-1:]
    whole = cue.counted if len(said) == len(words) else None
    return [whole] if whole else [(one.start, one.start + len(one.text)) for one in said]


def _names_another(core: Core, counted: Sequence[str], columns: Sequence[int]) -> bool:
    """Whether what is counted is another type than the one that a relation leads to: *pathways for the most organisms*.

    Nodes farther away cannot be counted, and the number of nearer ones is no answer.
    """
    lexicon = core.knowledge.lexicon
    named = bool(counted) and bool(lexicon.names_types(counted[-1:]).any())
    return named and not lexicon.explains(columns, counted[-1])


def _counts_names(core: Core, cue: Superlative) -> bool:
    """Whether what is counted is said by a name alone: *the most tents*."""
    return cue.counted is not None and bool(core.question.names_in(cue.counted))


def _pair(core: Core, way: Direction, code: int) -> tuple[int, int]:
    return (core.type_code, code) if way == "out" else (code, core.type_code)


def _shared(core: Core, relation: int, way: Direction) -> bool:
    return len(core.knowledge.shape.far_ends(core.type_code, relation, way)) > 1
