"""What turning words exclude: a name, all that a relation joins with, a value, or nodes that have a field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from search.domain.graph import ANY, Direction
from search.domain.plan import Anchor, Exclusion, Filter, Hop
from search.interfaces import NodeStore
from search.language.cues import Span, Turning
from search.language.question import Word
from search.language.words import stem
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.fields import naming
from search.stages.plan.conditions.negative import denied_by, forbidden_act, forbids, says_denial
from search.stages.plan.conditions.paths import both_ways, direction_said, is_noun, path_fit, relation_word
from search.stages.plan.conditions.values import says_value
from search.stages.plan.conditions.voice import did_not
from search.stages.plan.enumeration.enumerate import Branch
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.measures import field_stems
from search.stages.plan.scoring.align import elements
from search.stages.plan.write import TARGET

_ITSELF = 0.9
"""Fit of excluding the named node itself, where it is of the answer type."""
_ITSELF_BESIDE_WORDS = 0.5
"""The same where the scope holds other words, which then say a relation to the node."""
_ALIKE = 0.3
"""How much better a walk fits that a name of the plan takes as well: `in Perl but not in Python`."""
_MISSING = 0.75
_AGAINST = 0.4
"""Factor of a walk against the direction that the wording says."""
_LEAST = 0.35
"""Least fit of a relation or field that an exclusion without a name means."""
_MOST = 2
_SUBJECTS = frozenset(("nobody", "noone", "no", "none", "nothing"))

Walks = Callable[[int, int], Sequence[Branch]]
"""Position of a name in the question, and code of a type → the walks from the name to the type."""


@dataclass(frozen=True)
class Exclusions:
    """Binds turning words to an answer type."""

    nodes: NodeStore

    def of(self, core: Core, walks: Walks) -> Iterator[list[Condition]]:
        """Yield for each thing that is turned its possible meanings; an empty list for one that means nothing here."""
        for turning in core.question.turnings:
            names = core.question.names_in(turning.scope)
            names = [at for at in names if not _inside(core, at, names)]
            # A verb may be what something is called, too: *X directed but didn't write*.
            bare = all(core.question.names[at].words == 1 and not core.question.names[at].marked for at in names)
            if bare and (same := list(self._same_subject(core, turning, walks, names))):
                yield best(same, _MOST)
                continue
            for at in names:
                yield best(list(self._named(core, turning, at, walks)), _MOST)
            if not names and not _holds_other_cue(core, turning):
                nameless = [*self._nameless(core, turning), *self._missing(core, turning)]
                yield best([*self._forbidden(core, turning), *nameless], _MOST)

    def _named(self, core: Core, turning: Turning, at: int, walks: Walks) -> Iterator[Condition]:
        question, name = core.question, core.question.names[at]
        cue = (name.mention.start, name.mention.end)
        spans = ((turning.start, turning.end), cue)
        words = [word.text for word in question.said_in(turning.scope)]
        own = [key for key, code in zip(name.mention.keys, self.nodes.types(name.mention.keys), strict=True)
               if code in core.candidate.types]  # fmt: skip
        itself: tuple[Exclusion, ...] = ()
        if own:
            fit = _ITSELF if turning.kind == "except" or not words else _ITSELF_BESIDE_WORDS
            anchor = Anchor(TARGET, name.mention.text, core.kind.name, "name", tuple(self.nodes.ids(own)))
            exclusion = Exclusion((anchor,))
            itself = (exclusion,)
            yield Condition(cue, fit, exclude=(exclusion,), spans=spans, names=(at,), turning=True)
        said = words or [word.text for word in question.without((at,)).content]
        taken = {(path.start, path.steps) for path in core.candidate.paths}
        forbidden = forbids(question, core.knowledge, turning)
        verb = forbidden_act(question, core.knowledge, turning) if forbidden else ()
        for branch in walks(at, core.type_code):
            fit = path_fit(core.knowledge, branch.path, said) * self._turned(core, branch, at)
            denied = denied_by(core.knowledge, branch.path)
            if denied and not forbidden and _says_another(core, words, branch):
                continue
            if denied and (forbidden or not says_denial(question, core.knowledge, denied)):
                yield from self._denied(core, branch, at, fit + forbidden, (*spans, *verb))
                continue
            if (branch.path.start, branch.path.steps) in taken and not _says_another(core, words, branch):
                fit = min(1.0, fit + _ALIKE)
            exclude = (self._pattern(core, branch, at), *(itself if _there_and_back(branch) else ()))
            yield Condition(
                cue, fit, exclude=exclude, spans=spans, names=(at,), turning=True,
                columns=elements((branch.path,), core.knowledge.lexicon.relations),
            )  # fmt: skip

    def _denied(self, core: Core, branch: Branch, at: int, fit: float, spans: tuple[Span, ...]) -> Iterator[Condition]:
        """Yield a relation that denies by itself as what a denial means: *not safe in* is *contraindicated in*.

        Longer walks deny something of another node, which the question did not say.
        """
        if len(branch.path.steps) == 1:
            pattern = self._pattern(core, branch, at)
            yield Condition(
                spans[1], min(1.0, fit + _ALIKE), anchors=pattern.anchors, hops=pattern.hops, spans=spans,
                names=(at,), turning=True, columns=elements((branch.path,), core.knowledge.lexicon.relations),
            )  # fmt: skip

    def _forbidden(self, core: Core, turning: Turning) -> Iterator[Condition]:
        """Yield that a walk goes over a relation that denies, where the denial of a permission names nothing else.

        In German the name stands before it: *Was darf bei Asthma nicht gegeben werden?*
        """
        paths = core.candidate.paths
        if not any(len(path.steps) == 1 and denied_by(core.knowledge, path) for path in paths):
            return
        if forbids(core.question, core.knowledge, turning):
            span = (turning.start, turning.end)
            yield Condition(
                span, 1.0, spans=(span, *forbidden_act(core.question, core.knowledge, turning)), turning=True
            )

    def _turned(self, core: Core, branch: Branch, at: int) -> float:
        """Return the factor of a walk whose first relation could be walked in both directions."""
        step, mention = branch.path.steps[0], core.question.names[at].mention
        if (
            not both_ways(core.knowledge, branch.path.start, step)
            or core.knowledge.schema.relations[step.relation].mutual
        ):
            return 1.0
        way = direction_said(core.question, core.knowledge, step.relation, mention.start, mention.end)
        return 1.0 if way in (None, step.direction) else _AGAINST

    def _pattern(self, core: Core, branch: Branch, at: int) -> Exclusion:
        schema, name = core.knowledge.schema, core.question.names[at]
        first = f"E{at + 1}"
        last = len(branch.path.steps)
        variables = [first, *(f"e{at + 1}{position}" for position in range(1, last)), TARGET]
        hops = tuple(
            Hop(
                variables[place],
                schema.relations[step.relation].name,
                variables[place + 1],
                ANY if place + 1 == last else schema.node_types[step.to_type].name,
                None if core.knowledge.schema.relations[step.relation].mutual else step.direction,
            )
            for place, step in enumerate(branch.path.steps)
        )
        label = schema.node_types[branch.start.node_type].name
        ids = tuple(self.nodes.ids(branch.start.keys))
        return Exclusion((Anchor(first, name.mention.text, label, "name", ids),), hops)

    def _same_subject(self, core: Core, turning: Turning, walks: Walks, names: Sequence[int]) -> Iterator[Condition]:
        """Yield what a name that acts did not do as well: *films X wrote but didn't direct* are directed by others."""
        words = core.question.content_in(turning.scope, names=True)
        acting = [at for at in core.candidate.mentions if did_not(core.question, at, turning)]
        if not acting or not words:
            return
        said = [word.text for word in words]
        for at, branch in ((name, one) for name in acting for one in walks(name, core.type_code)):
            fit = path_fit(core.knowledge, branch.path, said, implied=False)
            relation = branch.path.steps[0].relation
            if len(branch.path.steps) > 1 or fit < _LEAST or not _said(core, words, relation, core.type_code):
                continue
            yield Condition(
                (turning.start, turning.end), fit, exclude=(self._pattern(core, branch, at),),
                spans=((turning.start, turning.end), *_of_schema(core, words)), turning=True, names=tuple(names),
                columns=elements((branch.path,), core.knowledge.lexicon.relations),
            )  # fmt: skip

    def _nameless(self, core: Core, turning: Turning) -> Iterator[Condition]:
        """Yield the relations of which an answer has none: `nobody cites`, `no contraindication`."""
        words = core.question.content_in(turning.scope)
        if not words:
            return
        known, said = core.knowledge, [word.text for word in words]
        for relation in range(len(known.schema.relations)):
            for way in core.ways(relation):
                far = known.shape.far_ends(core.type_code, relation, way)
                for code in far:
                    path = Metapath(core.type_code, (SchemaStep(relation, way, code),))
                    fit = path_fit(known, path, said, implied=False)
                    fit *= _facing(core, turning, words, relation, way) if len(core.ways(relation)) > 1 else 1.0
                    if fit < _LEAST or not _said(core, words, relation, code):
                        continue
                    direction: Direction | None = None if known.schema.relations[relation].mutual else way
                    label = known.schema.node_types[code].name if len(far) > 1 else ANY
                    hop = Hop(TARGET, known.schema.relations[relation].name, f"N{turning.start}", label, direction)
                    columns = elements((path,), known.lexicon.relations)
                    spans = ((turning.start, turning.end), *_of_schema(core, words))
                    yield Condition(
                        (turning.start, turning.end), fit, exclude=(Exclusion((), (hop,)),), spans=spans,
                        turning=True, columns=columns,
                    )  # fmt: skip

    def _missing(self, core: Core, turning: Turning) -> Iterator[Condition]:
        """Yield the fields that an answer does not have: `without a price`."""
        said = {stem(word.text) for word in core.question.content_in(turning.scope)}
        for one in core.kind.fields:
            own = field_stems(one)
            if own & said and one.coverage < core.kind.count:
                fit = _MISSING * len(own & said) / len(said)
                condition = Filter(TARGET, one.name, "missing")
                yield Condition(
                    (turning.start, turning.end), fit, filters=(condition,),
                    spans=((turning.start, turning.end), *naming(core, one)), turning=True,
                )  # fmt: skip


def _says_another(core: Core, words: Sequence[str], branch: Branch) -> bool:
    """Whether a word of a scope says a relation by its letters that a walk does not go over."""
    own = {step.relation for step in branch.path.steps}
    return any(said and own.isdisjoint(said) for said in map(core.knowledge.lexicon.said_relations, words))


def _there_and_back(branch: Branch) -> bool:
    """Whether a walk returns over the relation by which it began, to what shares something with its start.

    Everything shares it with itself, which no walk says: `authors who never worked with X` are others than X.
    """
    first, last = branch.path.steps[0], branch.path.steps[-1]
    return first.relation == last.relation and first.direction != last.direction


def _said(core: Core, words: Sequence[Word], relation: int, code: int) -> bool:
    """Whether a word of the scope names a relation or the type at its end, and is not merely like them.

    The answer type at the end of a relation says nothing of the relation.
    """
    lexicon = core.knowledge.lexicon
    columns = (relation,) if code == core.type_code else (relation, lexicon.relations + code)
    return any(lexicon.explains(columns, word.text) for word in words)


def _of_schema(core: Core, words: Sequence[Word]) -> list[Span]:
    """Return the spans of the words that name something of the schema, though perhaps another relation (`bought`)."""
    lexicon = core.knowledge.lexicon
    return [
        (word.start, word.start + len(word.text))
        for word in words
        if lexicon.explains(range(lexicon.elements), word.text)
    ]


def _facing(core: Core, turning: Turning, words: Sequence[Word], relation: int, way: Direction) -> float:
    """Return the factor of a direction by the wording: of `nobody cites` an answer is the object."""
    way_said = direction_said(core.question, core.knowledge, relation, None)
    spoken = core.question.text[turning.start : turning.end].lower().split()
    if spoken and spoken[0] in _SUBJECTS and not _SUBJECTS.isdisjoint(spoken) and _is_subject(core, turning, words):
        way_said = "in" if way_said == "out" else way_said
    if is_noun(core.question, known_word := relation_word(core.question, core.knowledge, relation, turning.end)):
        way_said = "in" if known_word else way_said
    return 1.0 if way_said in (None, way) else _AGAINST


def _is_subject(core: Core, turning: Turning, words: Sequence[Word]) -> bool:
    """Whether the turning word stands before the verb: `nobody has cited`, `no paper cites`; not `cites no paper`."""
    before = core.question.text[: turning.start].lower().split()
    return not before or (
        not any(stem(before[-1]) == stem(word.text) for word in words)
        and (before[-1] not in ("have", "has", "had", "with", "got", "contain", "contains") and bool(words))
    )


def _inside(core: Core, at: int, names: Sequence[int]) -> bool:
    """Whether a name is a part of another one."""
    own = core.question.names[at]
    return any(core.question.names[other].contains(own) for other in names if other != at)


def _holds_other_cue(core: Core, turning: Turning) -> bool:
    """Whether a number, date or value stands in the scope, which then is what is turned."""
    start, end = turning.scope
    cues = core.question.cues
    held = [*(one.start for one in cues.quantities), *(one.start for one in cues.dates)]
    if any(start <= at < end for at in held):
        return True
    values = (one for one in core.question.values if start <= one.start < end and one.node_type == core.kind.name)
    return any(says_value(core, one) for one in values)
