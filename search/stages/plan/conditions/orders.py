"""What a superlative orders answers by: a field of theirs, or the number of nodes that they are joined with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from search.domain.graph import ANY, Direction
from search.domain.plan import Count, Order
from search.language.cues import Superlative
from search.language.words import stem, stems
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.fields import FieldMeanings, naming
from search.stages.plan.conditions.paths import direction_said, is_noun, mutual, path_fit, relation_word
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
_USUAL = 0.3
"""Fit of counting the relation with the most edges, where the counted words fit none."""


@dataclass(frozen=True)
class Orders:
    """Binds superlatives to an answer type."""

    fields: FieldMeanings

    def of(self, core: Core) -> Iterator[list[Condition]]:
        """Yield the possible meanings of each superlative."""
        for cue in core.question.superlatives:
            yield best([*self._by_field(core, cue), *self._by_count(core, cue)], _MOST)

    def _by_field(self, core: Core, cue: Superlative) -> Iterator[Condition]:
        said = [*([cue.word] if cue.word else []), *cue.scale]
        nearby = core.question.content_in((cue.end, cue.end + 40))[:3] if not cue.word else []
        for one, fit in self.fields.fits(core.kind, [*said, *(word.text for word in nearby)], cue.unit):
            order = Order(one.name, cue.direction, cue.limit)
            spans = ((cue.start, cue.end), *naming(core, one))
            # Words that are counted say a number of nodes, unless a field has just their name.
            fit = fit / 2 if cue.counted is not None and not cue.word else fit
            yield Condition((cue.start, cue.end), fit, order=order, spans=spans)

    def _by_count(self, core: Core, cue: Superlative) -> Iterator[Condition]:
        counted = self._counted(core, cue)
        if not counted and stem(cue.word) not in _MANY:
            return
        spans = ((cue.start, cue.end), *([cue.counted] if cue.counted else []))
        found: list[tuple[int, Condition]] = []
        for relation, way, code, far in _joined(core):
            known = core.knowledge
            path = Metapath(core.type_code, (SchemaStep(relation, way, code),))
            fit = path_fit(known, path, counted, implied=False) if counted else 0.0
            fit = min(1.0, fit + _BESIDE * self._spoken(core, relation))
            if far > 1 and not mutual(known, relation):
                word = relation_word(core.question, known, relation, cue.start)
                way_said = (
                    "in" if is_noun(core.question, word) else direction_said(core.question, known, relation, None)
                )
                fit *= 1.0 if way_said in (None, way) else _AGAINST
            label = known.schema.node_types[code].name if _shared(core, relation, way) else ANY
            count = Count(known.schema.relations[relation].name, None if mutual(known, relation) else way, label)
            columns = elements((path,), known.lexicon.relations)
            edges = known.schema.edges_between[count.rel].get(_pair(core, way, code), 0)
            order = Order(count, cue.direction, cue.limit)
            found.append((edges, Condition((cue.start, cue.end), fit, order=order, spans=spans, columns=columns)))
        fitting = [condition for _, condition in found if counted and condition.score >= _COUNTED]
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


def _joined(core: Core) -> Iterator[tuple[int, Direction, int, int]]:
    """Yield relation, direction, far type and number of directions of what answers can have many of."""
    known = core.knowledge
    ways: tuple[Direction, ...] = ("out", "in")
    for relation in range(len(known.schema.relations)):
        own = [way for way in ways if known.shape.far_ends(core.type_code, relation, way)]
        for way in own[:1] if mutual(known, relation) else own:
            for code in sorted(known.shape.far_ends(core.type_code, relation, way)):
                yield relation, way, code, len(own)


def _pair(core: Core, way: Direction, code: int) -> tuple[int, int]:
    return (core.type_code, code) if way == "out" else (code, core.type_code)


def _shared(core: Core, relation: int, way: Direction) -> bool:
    return len(core.knowledge.shape.far_ends(core.type_code, relation, way)) > 1
