"""What a question with yes or no asks of two names: whether a walk from one of them leads to the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from search.domain.graph import Node
from search.domain.plan import Anchor
from search.interfaces import NodeStore
from search.language.question import AnalysedQuestion
from search.language.words import words
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.write import TARGET

_MOST = 200
"""Most nodes at the end of a walk whose names are looked at."""
_NAMED = 4
"""Most kinds that are named."""


def reaching(question: AnalysedQuestion, candidates: Sequence[PlanCandidate], nodes: NodeStore) -> list[PlanCandidate]:
    """Return the walks from one name that end at the type of another name, if the question asks for yes or no."""
    if not _of_names(question) or len(question.names) < 2:
        return []
    kinds = [frozenset(int(code) for code in nodes.types(name.mention.keys)) for name in question.names]
    return [
        candidate
        for candidate in candidates
        if len(candidate.branches) == 1
        and any(
            candidate.types[0] in codes and not name.excludes(question.names[candidate.mentions[0]])
            for name, codes in zip(question.names, kinds, strict=True)
        )
    ]


def whether(core: Core, nodes: NodeStore) -> Iterator[Condition]:
    """Yield for each name that a candidate leaves out the condition that its answer is that node.

    *Is X made by Y?* is the walk from Y to what it makes, which has to reach X. If it does not, the answer is no.
    """
    question = core.question
    if len(core.candidate.branches) != 1 or not _of_names(question):
        return
    (used,) = core.candidate.mentions
    for at, (name, role) in enumerate(zip(question.names, question.roles, strict=True)):
        if role != "start" or name.excludes(question.names[used]):
            continue
        kinds = nodes.types(name.mention.keys)
        own = [key for key, kind in zip(name.mention.keys, kinds, strict=True) if kind == core.type_code]
        if own:
            span = (name.mention.start, name.mention.end)
            anchor = Anchor(TARGET, name.mention.text, core.kind.name, "name", tuple(nodes.ids(own)))
            if kinds_of := _kinds_reached(core, own, nodes):
                said = " or ".join(dict.fromkeys(node.name for node in kinds_of))
                anchor = replace(anchor, text=said, ids=tuple(node.id for node in kinds_of))
            yield Condition(
                span, name.mention.similarity, anchors=(anchor,), ask="whether", spans=(span,), names=(at,),
                of_kinds=bool(kinds_of),
            )  # fmt: skip


def _kinds_reached(core: Core, own: Sequence[int], nodes: NodeStore) -> list[Node]:
    """Return the nodes that a walk reaches instead of the named ones, and whose names hold a whole name of one.

    *Type 2 diabetes* is a diabetes, so that what treats it is neither a sure no nor a sure yes.
    """
    [branch] = core.candidate.branches
    if not branch.walked or len(branch.found) > _MOST or not set(own).isdisjoint(branch.found.tolist()):
        return []
    names = [set(words(one)) for node in nodes.nodes(own) for one in (node.name, *node.aliases)]
    reached = nodes.references(branch.found.tolist())
    return [node for node in reached if any(name < set(words(node.name)) for name in names if name)][:_NAMED]


def _of_names(question: AnalysedQuestion) -> bool:
    """Whether yes or no is asked of a name: *Is X …*, *Does the X …*, but not *Is there anything by X …*."""
    asking = question.cues.asking
    starts = [name.mention.start for name, role in zip(question.names, question.roles, strict=True) if role == "start"]
    if asking is None or asking.ask != "whether" or not starts:
        return False
    between = [word for word in question.said if asking.end <= word.start < min(starts)]
    return len(between) <= 1 and not any(word.content for word in between)
