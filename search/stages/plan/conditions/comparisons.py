"""What a comparison with another node compares: a field of the answer with the same field of the named node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from search.domain.plan import Anchor, FieldOf, Filter
from search.interfaces import NodeStore
from search.language.cues import Comparison
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.fields import FieldMeanings, naming
from search.stages.plan.write import TARGET

_MOST = 2
_OTHER_TYPE = 0.8
"""Factor of a comparison with a node of another type than the answers."""


@dataclass(frozen=True)
class Comparisons:
    """Binds comparisons to an answer type."""

    fields: FieldMeanings
    nodes: NodeStore

    def of(self, core: Core) -> Iterator[list[Condition]]:
        """Yield the possible meanings of each comparison."""
        for place, cue in enumerate(core.question.comparisons, 1):
            yield best(list(self._meanings(core, cue, f"C{place}")), _MOST)

    def _meanings(self, core: Core, cue: Comparison, var: str) -> Iterator[Condition]:
        said = [*([cue.word] if cue.word else []), *cue.scale]
        own = self.fields.fits(core.kind, said, cue.unit, keywords=True)
        for at in core.question.names_in(cue.reference):
            mention = core.question.names[at].mention
            types = self.nodes.types(mention.keys)
            for code in dict.fromkeys(int(code) for code in types):
                kind = core.knowledge.schema.node_types[code]
                keys = [key for key, of in zip(mention.keys, types, strict=True) if int(of) == code]
                anchor = Anchor(var, mention.text, kind.name, "name", tuple(self.nodes.ids(keys)))
                theirs = self.fields.fits(kind, said, cue.unit, keywords=True)
                for one, fit in own:
                    other = next((field for field, _ in theirs if field.name == one.name and code == core.type_code),
                                 next((field for field, _ in theirs if field.kind == one.kind), None))  # fmt: skip
                    if other is None:
                        continue
                    condition = Filter(TARGET, one.name, cue.op, FieldOf(var, other.name))
                    fit = fit if code == core.type_code else fit * _OTHER_TYPE
                    spans = ((cue.start, cue.end), cue.reference, *naming(core, one))
                    yield Condition(
                        (cue.start, cue.end), fit, filters=(condition,), anchors=(anchor,), spans=spans, names=(at,)
                    )
