"""Numbers that are about other nodes than the answers: `brands of products under 50 euros`, on the way or beside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from search.domain.graph import ANY
from search.domain.plan import Exclusion, Filter, Hop
from search.language.cues import Turning
from search.language.languages import language
from search.language.quantities import Quantity
from search.language.question import counted_by
from search.language.words import stem
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.denied import denied, is_turned
from search.stages.plan.conditions.fields import FieldMeanings
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.limits import meant_of, naming_of
from search.stages.plan.measures import name_words
from search.stages.plan.scoring.align import elements
from search.stages.plan.write import TARGET

_MOST = 2
_ON_THE_WAY = 0.55
"""Fit of a number on a node of the path: what a number on the answer itself weighs as well (`readings._NUMBERS`)."""
_BESIDE = 0.5
_ASKED = frozenset(("who", "whom", "where", "when"))
_PARTICIPLE = language("en").entries("words", "participles")


@dataclass(frozen=True)
class Elsewhere:
    """Binds numbers to fields of the nodes on the way to an answer, or one relation beside it."""

    fields: FieldMeanings

    def of(self, core: Core) -> Iterator[list[Condition]]:
        """Yield the possible meanings of each number that no field of the answers can hold."""
        for cue in core.question.cues.quantities:
            if counted_by(core.question, cue) is not None and cue.op == "=":
                continue
            owner = self.owner(core, cue)
            if owner is not None and owner != core.type_code:
                yield best(list(self._meanings(core, cue, owner)), _MOST)

    def owner(self, core: Core, cue: Quantity) -> int | None:
        """Return the code of the type whose field a number limits; None if no type is clear.

        It is the type that the nearest word before the number names, if it has such a field; else the answers' type;
        else the type of a node on the way. A year does not limit an event that nothing says (when institutions were
        founded) where the answers have a year of their own: *papers by institutions in Norway since 2018*.
        """
        lexicon, schema = core.knowledge.lexicon, core.knowledge.schema
        turned = [one.scope for one in core.question.turnings if one.scope[1] <= cue.start]
        before = [
            word
            for word in core.question.said
            if word.content
            and word.start < cue.start
            # What is turned before the number has ended there: *no dataset and published after 2021*.
            and not any(start <= word.start < end for start, end in turned)
        ]
        for word in reversed(before):
            if not lexicon.says(word.text):
                continue
            if lexicon.explains((lexicon.relations + core.type_code,), word.text):
                break
            codes = [c for c in range(len(schema.node_types)) if lexicon.explains((lexicon.relations + c,), word.text)]
            found = [code for code in codes if self._limited(core, cue, code)]
            if core.type_code in found or (found and self._of_answers(core, cue, found[0])):
                return core.type_code
            if found:
                return found[0]
        if self._limited(core, cue, core.type_code):
            return core.type_code
        return next((code for _, code in core.variables if self._limited(core, cue, code)), None)

    def _of_answers(self, core: Core, cue: Quantity, code: int) -> bool:
        """Whether a year would limit an event of nodes of a type that nothing says, and a plain year of the answers."""
        answers = self._limited(core, cue, core.type_code)
        plain = bool(answers) and not any(map(_is_event, answers))
        said = {stem(word.text) for word in core.question.said if word.content}
        unsaid = all(
            _is_event(one) and said.isdisjoint(stem(part) for part in name_words(one))
            for one in self._limited(core, cue, code)
        )
        return cue.year and plain and unsaid

    def _limited(self, core: Core, cue: Quantity, code: int) -> tuple[str, ...]:
        """Return the names of the fields of a type that a number limits, whether a turning word denies it or not."""
        return tuple(one.field for one in self._filters(core, cue, code, TARGET, turned=False))

    def _filters(self, core: Core, cue: Quantity, code: int, var: str, *, turned: bool = True) -> tuple[Filter, ...]:
        """Return a number as filters on a node of a type, none if no field of it is clear.

        Behind a turning word they are their opposite, unless `turned` is false; a range has none.
        """
        asked = denied(cue, core.question) if turned and is_turned(cue, core.question) else cue
        if asked is None:
            return ()
        kind = core.knowledge.schema.node_types[code]
        return tuple(
            replace(one, var=var)
            for one in meant_of(core.question.text, asked, kind, core.knowledge.schema, self.fields.years)
        )

    def _meanings(self, core: Core, cue: Quantity, owner: int) -> Iterator[Condition]:
        span = (cue.start, cue.end)
        kind = core.knowledge.schema.node_types[owner]
        spans = naming_of(core.question.text, cue, kind, core.knowledge.schema, self.fields.years)
        for var, code in core.variables:
            if code == owner and not _asks_beyond(core):
                # *Lamps that came out after 2020* asks for lamps, and not for who designed them.
                return
            if code == owner:
                if filters := self._filters(core, cue, owner, var):
                    yield Condition(span, _ON_THE_WAY, filters=filters, spans=spans)
                return
        shape, schema = core.knowledge.shape, core.knowledge.schema
        for relation in range(len(schema.relations)):
            for way in core.ways(relation):
                ends = shape.far_ends(core.type_code, relation, way)
                if owner not in ends:
                    continue
                own, var = schema.relations[relation], f"w{cue.start}"
                label = schema.node_types[owner].name if len(ends) > 1 else ANY
                hop = Hop("T", own.name, var, label, None if own.mutual else way)
                path = Metapath(core.type_code, (SchemaStep(relation, way, owner),))
                columns = elements((path,), core.knowledge.lexicon.relations)
                if (turning := _lacking(core, cue, owner)) is not None:
                    # *Without a paper after 2018* is said of all papers, not of some.
                    kept = self._filters(core, cue, owner, var, turned=False)
                    told = (*spans, (turning.start, turning.end))
                    yield Condition(
                        span, _BESIDE, exclude=(Exclusion((), (hop,), kept),), spans=told, columns=columns, turning=True
                    )
                    continue
                if filters := self._filters(core, cue, owner, var):
                    yield Condition(span, _BESIDE, filters=filters, spans=spans, columns=columns, hops=(hop,))


def _is_event(field: str) -> bool:
    """Whether a field's name is a participle: what happened to its node then (`founded`, `released`)."""
    return any(part.endswith(_PARTICIPLE) for part in name_words(field))


def _asks_beyond(core: Core) -> bool:
    """Whether a word says the answers' type or how they are reached from the last node before them."""
    lexicon = core.knowledge.lexicon
    said = core.question.without(core.candidate.mentions)
    if not _ASKED.isdisjoint(word.text for word in said.words):
        return True
    own = {lexicon.relations + core.type_code, *(path.steps[-1].relation for path in core.candidate.paths)}
    return any(lexicon.explains(tuple(own), word.text) for word in said.content)


def _lacking(core: Core, cue: Quantity, owner: int) -> Turning | None:
    """Return the turning word that says that answers have none of the nodes which a number is about."""
    lexicon = core.knowledge.lexicon
    for turning in core.question.turnings:
        if turning.kind == "lack" and turning.scope[0] <= cue.start < turning.scope[1]:
            words = core.question.content_in((turning.scope[0], cue.start))
            if any(lexicon.explains((lexicon.relations + owner,), word.text) for word in words):
                return turning
    return None
