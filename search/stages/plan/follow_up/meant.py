"""One meaning of the words of a follow-up: its plan, the words that it leaves over, and its score."""

from __future__ import annotations

from dataclasses import dataclass, replace

from search.domain.plan import Filter, Plan
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation, Features
from search.stages.plan.follow_up.words import Words
from search.stages.plan.grammar import GrammarWeights
from search.stages.plan.operators.given import is_rival
from search.stages.plan.read import Reader
from search.stages.plan.sets import (
    Asked,
    Compared,
    Kind,
    Meet,
    Named,
    NodeSet,
    Top,
    Where,
    WhereCount,
    Without,
    given_at,
    givens,
    meet,
)

_TURNING = ("NOT", "LACK", "EXCEPT")
_PUT = frozenset(("put", "put-role", "put-any", "put-filter", "given-turned"))
"""Features of the rules that put something in the place of something else."""
_HEADS = frozenset(("type-name", "type-alias", "type-part", "when", "when-kind", "where", "where-kind", "who", "count",
                    "field-of", "of-field", "agg-of", "of-agg"))  # fmt: skip
"""Rules by which words say what they ask for."""


@dataclass(frozen=True)
class MeantNodes:
    """A meaning with its plan, its score, and the words that the plan does nothing with.

    `asked` is None where all is left to text. `explained` is the share of the content words that it explains. `refers`
    says that the words are no question of their own, because they refer to something or say too little; `narrows` that
    the meaning only adds to what was said before.
    """

    asked: Asked | None
    plan: Plan
    score: float
    left: tuple[str, ...]
    explained: float
    refers: bool
    narrows: bool = False


def meant(root: Derivation, words: Words, reader: Reader, weights: GrammarWeights) -> MeantNodes:
    """Return a meaning of the whole words. Raises NotWritten if no plan can say it."""
    annotated, asked = words.annotated, root.meaning
    left, sought = _left(root, annotated)
    total = max(1, sum(annotated.content))
    unread = sum(content and not root.covered >> at & 1 for at, content in enumerate(annotated.content))
    if asked is None:
        features: Features = (("anew", 1.0), ("anew-text", 1.0), ("anew-refers", float(words.refers)))
        return MeantNodes(None, Plan(), root.score + weights(features), left, 1 - len(left) / total, True)
    used = givens(asked)
    before = used[0].before.plan if used else Plan()
    asked = _settled(asked, root, before) if used else asked
    plan = reader.composer(asked, " ".join(sought), "normal")
    if used and asked.show and asked.show == before.show and asked.edge is None and before.show_edge:
        plan = _of_edge(plan, before)
    if left:
        # Which of them the words left over mean only texts can say: nothing is counted, and no yes is said.
        plan = replace(plan, ask="which" if plan.ask in ("how many", "whether") else plan.ask)
    turns = len(left) - unread - bool(annotated.rest)
    features = _changes(root, words, before, plan, unread, turns) if used else _own(root, words, asked)
    refers = any(value for name, value in features if name.startswith("anew-"))
    narrows = bool(used) and not _PUT & _named(root) and (plan.ask, plan.show, plan.order) == (
        before.ask, before.show, before.order
    )  # fmt: skip
    return MeantNodes(asked, plan, root.score + weights(features), left, 1 - len(left) / total, refers, narrows)


def _settled(asked: Asked, root: Derivation, before: Plan) -> Asked:
    """Return what is asked with the order outermost; what was asked before is asked again of what took a place."""
    of = lifted(asked.of)
    given = given_at(of)
    if given is None or asked.ask != "which" or asked.show:
        return replace(asked, of=of)
    put = _PUT & _named(root)
    return Asked(of, before.ask if put else "which", before.show if put else "")


def _of_edge(plan: Plan, before: Plan) -> Plan:
    """Return the plan that asks again for the field of an edge, if it has the edge still."""
    there = plan.edge_of(before.show_edge) is not None
    return replace(plan, show=before.show if there else "", show_edge=before.show_edge if there else "")


def _named(root: Derivation) -> frozenset[str]:
    """Return the names of the features of a meaning."""
    return frozenset(name for step in root.steps() for name, value in step.features if value)


def lifted(of: NodeSet) -> NodeSet:
    """Return a set whose order chooses among all that is said: *the cheapest in navy* need not be the cheapest."""
    match of:
        case Meet(_, one, other):
            for a, b in ((lifted(one), other), (lifted(other), one)):
                if isinstance(a, Top) and given_at(a) is not None and (inner := meet(a.of, b)) is not None:
                    return Top(inner.types, inner, a.by, a.end, a.limit)
        case Where() | WhereCount() | Without() | Compared():
            top = lifted(of.of)
            if isinstance(top, Top) and given_at(top) is not None:
                return replace(top, types=of.types, of=replace(of, of=top.of))
    return of


def _left(root: Derivation, annotated: Annotated) -> tuple[tuple[str, ...], list[str]]:
    """Return the content words that a meaning does not cover, and those of them that texts are searched for.

    Words behind a turning word that nothing is done with say what must not be.
    """
    turning = {one.start: one.end for one in annotated.annotations if one.category in _TURNING}
    left, sought, denied = [], [], False
    for at, token in enumerate(annotated.tokens):
        denied = denied and not token.mark
        covered = bool(root.covered >> at & 1)
        said = annotated.text[token.start : token.end]
        if at in turning and not covered:
            denied = True
            left.append(said)
        elif annotated.content[at] and not covered:
            left.append(said)
            sought += [] if denied else [said]
    rest = [annotated.rest] if annotated.rest else []
    return (*left, *rest), [*sought, *rest]


def _changes(root: Derivation, words: Words, before: Plan, plan: Plan, unread: int, turns: int) -> Features:
    """Return what the usual words for a change say of one, and how it agrees with the plan before."""
    named = _named(root)
    instead, further = words.says("INSTEAD"), words.says("FURTHER") and not words.says("INSTEAD")
    puts = bool(_PUT - {"put-filter", "given-turned"} & named)
    on = given_at(root.meaning.of) is None
    adds = len(plan.anchors) > len(before.anchors)
    return (
        ("further-puts", float(further and puts)),
        ("instead-adds", float(instead and not named & _PUT)),
        ("given-adds", float(adds and not further and not puts)),
        ("given-left", float(unread)), ("turn-unread", float(turns)), ("further-on", float(on and further)),
        ("on-unasked", float(on and not words.asks and not _HEADS & set(root.rules()))),
        ("sorted-show", float(words.says("SORT") and bool(plan.show) and not before.show)),
        ("given-rival", float(not further and _rivals(plan.filters))),
    )  # fmt: skip


def _rivals(filters: tuple[Filter, ...]) -> bool:
    return any(
        one.var == other.var and is_rival(one, other.field, other.op)
        for at, one in enumerate(filters)
        for other in filters[at + 1 :]
        if other.count is None and other.compared is None
    )


def _own(root: Derivation, words: Words, asked: Asked) -> Features:
    """Return what speaks against a question of its own."""
    heads = _HEADS & set(root.rules())
    return (
        ("anew", 1.0), ("anew-refers", float(words.refers)),
        ("anew-bare", float(isinstance(asked.of, Kind | Named))), ("anew-headless", float(not heads)),
    )  # fmt: skip
