"""How well the words of a condition fit a walk, and the direction of a relation that joins a type with itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations, pairwise

from search.domain.graph import OPPOSITE, Direction
from search.language.question import AnalysedQuestion, Word
from search.language.words import FUNCTION_WORDS, is_participle, stem, stems
from search.stages.plan.conditions.voice import acting, done_by, led
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.scoring.align import elements, implied_by_start

_SMOOTH = 0.3
_TYPE = 0.9
"""Worth of a hop that only the type at its far end has a word for."""
_LONGER = 0.25
"""How much less a walk fits with each hop beyond the first."""
_LAST = 1.5
"""Weight of the last content word of a scope, which is its noun or its verb; every other word has weight 1."""
_IMPLIED = 0.5
"""Affinity from which the type of a name alone says the first hop of a walk."""
_HAVING = frozenset(("no", "any", "most", "fewest", "many", "without", "with", "of", "more", "fewer", "least"))
_FUNCTION_STEMS = frozenset(stem(word) for word in FUNCTION_WORDS)
_PASSIVE_BY = re.compile(r"\bby\b")


def path_fit(knowledge: Knowledge, path: Metapath, said: Sequence[str], implied: bool = True) -> float:
    """Return how well words fit a walk, in [0, 1]: hops that have a word, and words that the walk explains.

    `implied` says that the walk begins at a name, whose type may say the first hop without a word.
    """
    lexicon, shape = knowledge.lexicon, knowledge.shape
    rows = lexicon.of(list(said))
    types = lexicon.relations
    hops = []
    for at, step in enumerate(path.steps):
        own = max(
            rows[:, step.relation].max(initial=0.0), _TYPE * rows[:, types + step.to_type].max(initial=0.0)
        ) if len(rows) else 0.0  # fmt: skip
        hops.append(max(own, implied_by_start(path, shape) if implied and not at else 0.0))
    share = 1.0
    if len(rows):
        weights = [1.0] * (len(rows) - 1) + [_LAST]
        told = rows[:, elements((path,), types)].max(axis=1, initial=0.0)
        whole = rows.max(axis=1, initial=0.0)
        share = (float(told @ weights) + _SMOOTH) / (float(whole @ weights) + _SMOOTH)
    fit = 0.5 * sum(hops) / len(hops) + 0.5 * share - _LONGER * (len(path.steps) - 1)
    return max(0.0, float(fit))


def says_walk(question: AnalysedQuestion, knowledge: Knowledge, branch: Branch) -> bool:
    """Whether every hop of a walk has a word of the question; the type of its name may say the first one."""
    content = question.without((branch.start.mention,)).content
    return not unsaid_steps(knowledge, branch.path, [word.text for word in content])


def unsaid_steps(knowledge: Knowledge, path: Metapath, said: Sequence[str]) -> list[SchemaStep]:
    """Return the hops of a walk whose relation no word says; the first one needs none if its start implies it."""
    return [
        step
        for at, step in enumerate(path.steps)
        if not (not at and implied_by_start(path, knowledge.shape) >= _IMPLIED)
        and not any(knowledge.lexicon.explains((step.relation,), word) for word in said)
    ]


def unsupported(question: AnalysedQuestion, knowledge: Knowledge, candidate: PlanCandidate) -> bool:
    """Whether a walk has more hops than words that say them, by their relation or by the type that they reach.

    Neither may a relation be said more often than it is walked. Each word says one hop: in *which state borders hawaii*
    the one word *state* does not lead over the country to all other states as well. The first hop needs no word if its
    start implies it, nor does the way back over a relation where a word says that something is shared. Walks from
    several names of one type may use the same words.
    """
    held = [(one.mention.start, one.mention.end) for at in candidate.mentions for one in [question.names[at]]]
    starts = {start for start, _ in question.expressions}
    said = [
        word.text
        for word in question.said
        if (word.content or word.start in starts) and not any(start <= word.start < end for start, end in held)
    ]
    shared = question.without(candidate.mentions).sharing
    short = any(not _enough_words(knowledge, path, said, shared) for path in candidate.paths)
    return short or _says_more(knowledge, candidate, said)


def _says_more(knowledge: Knowledge, candidate: PlanCandidate, said: Sequence[str]) -> bool:
    """Whether a word of a relation is said more often than a candidate walks it: *border states that border states*."""
    steps = [step.relation for path in candidate.paths for step in path.steps]
    for word, times in Counter(map(stem, said)).items():
        walked = sum(knowledge.lexicon.explains((relation,), word) for relation in steps) if times > 1 else 0
        if 0 < walked < times:
            return True
    return False


def _enough_words(knowledge: Knowledge, path: Metapath, said: Sequence[str], shared: bool) -> bool:
    """Whether each hop of a walk gets a word of its own."""
    needs: list[SchemaStep] = []
    for at, step in enumerate(path.steps):
        before = path.steps[at - 1] if at else None
        back = before is not None and (before.relation, OPPOSITE[before.direction]) == (step.relation, step.direction)
        implied = not at and implied_by_start(path, knowledge.shape) >= _IMPLIED
        if not implied and not (back and shared):
            needs.append(step)
    lexicon = knowledge.lexicon
    saying = [
        [
            at
            for at, word in enumerate(said)
            if lexicon.explains((step.relation, lexicon.relations + step.to_type), word)
        ]
        for step in needs
    ]
    taken: dict[int, int] = {}

    def takes(hop: int, tried: set[int]) -> bool:
        """Give a hop a word, and move other hops to other words where that is needed (an augmenting path)."""
        for word in saying[hop]:
            if word not in tried:
                tried.add(word)
                if word not in taken or takes(taken[word], tried):
                    taken[word] = hop
                    return True
        return False

    return all(takes(hop, set()) for hop in range(len(needs)))


def back_unsaid(question: AnalysedQuestion, knowledge: Knowledge, path: Metapath, said: Sequence[str]) -> bool:
    """Whether a walk goes over a relation there and back, though one word alone says it.

    *Does X target Y* does not ask whether both have a target in common; *do X and Y share a target* does.
    """
    if question.without(()).sharing:
        return False
    turned = {
        one.relation
        for one, two in pairwise(path.steps)
        if one.relation == two.relation and one.direction != two.direction
    }
    return any(sum(knowledge.lexicon.explains((code,), word) for word in said) < 2 for code in turned)


def roundabout(question: AnalysedQuestion, knowledge: Knowledge, used: tuple[int, ...], path: Metapath) -> int:
    """Return the number of hops on to nodes of the same type that no word says, beyond the first hop of a walk.

    *Gifts for kids* are in that category; they are not what people buy with something in it. `used` are the names that
    the plan takes.
    """
    rest = question.without(used)
    if rest.sharing:
        return 0
    types = [path.start, *(step.to_type for step in path.steps)]
    unsaid = unsaid_steps(knowledge, path, [word.text for word in rest.content])
    return sum(step.to_type == types[at] and step in unsaid for at, step in enumerate(path.steps) if at)


def both_ways(knowledge: Knowledge, start: int, step: SchemaStep) -> bool:
    """Whether a relation may be walked in either direction from a type to the same type at its far end."""
    other: Direction = OPPOSITE[step.direction]
    return step.to_type in knowledge.shape.far_ends(start, step.relation, other)


def direction_said(
    question: AnalysedQuestion, knowledge: Knowledge, relation: int, at: int | None, until: int | None = None
) -> Direction | None:
    """Return the direction in which the wording walks a relation from a node, or None where nothing decides it.

    The node is named from `at` to `until`; if `at` is None, it is what is asked for, and stands before the relation's
    words. A participle with *from* or *into* decides before all else (`voice.py`); where no word names the relation,
    the verb beside the name does. A node before an active verb is its subject, behind it its object; a passive
    (`cited by`) turns this round, and so does the wording of the inverse (`includes`).
    """
    word = relation_word(question, knowledge, relation, at or 0)
    if at is not None and (way := led(question, at, until or at)) is not None:
        return way
    if word is None:
        return None if at is None else acting(question, knowledge, at, until or at)
    inverse = stem(word.text) not in _forth(knowledge, relation)
    subject = at is None or at < word.start
    if at is not None and subject and _owns(question.text, until or at, word):
        subject = False
    if _is_passive(question.text, word):
        subject = not subject
    return "out" if subject != inverse else "in"


def walked_against(question: AnalysedQuestion, knowledge: Knowledge, candidate: PlanCandidate) -> int:
    """Return the number of hops of a candidate that the wording walks in the other direction."""
    against = 0
    for branch in candidate.branches:
        mention = question.names[branch.start.mention].mention
        here = branch.path.start
        for step in branch.path.steps:
            if both_ways(knowledge, here, step) and not knowledge.schema.relations[step.relation].mutual:
                said = direction_said(question, knowledge, step.relation, mention.start, mention.end)
                against += said not in (None, step.direction)
            here = step.to_type
        against += _done_by_others(question, knowledge, branch)
    return against


def _done_by_others(question: AnalysedQuestion, knowledge: Knowledge, branch: Branch) -> int:
    """Return the number of later hops of a walk to another one that does what the name is asked to do.

    *What does X sell* asks for what is sold, not for a shop where that *is sold*.
    """
    mention = question.names[branch.start.mention].mention
    verb = done_by(question, mention.start, mention.end)
    if verb is None:
        return 0
    done = [
        step
        for step in branch.path.steps[1:]
        if step.direction == "out"
        and any(map(is_participle, knowledge.schema.relations[step.relation].description.split()[1:2]))
    ]
    return sum(knowledge.lexicon.explains((step.relation,), verb.text) for step in done)


def relation_word(question: AnalysedQuestion, knowledge: Knowledge, relation: int, near: int) -> Word | None:
    """Return the word nearest to an offset that names a relation or its inverse, or None."""
    both = _forth(knowledge, relation) | _content_stems(knowledge.schema.relations[relation].inverse)
    said = [word for word in question.said if stem(word.text) in both]
    return min(said, key=lambda word: abs(word.start - near), default=None)


def is_noun(question: AnalysedQuestion, word: Word | None) -> bool:
    """Whether a word that names a relation is used as a noun, as something that a node has: `most citations`.

    What a node has is said of the other end, so the node is the object: `no subfields`, `the most parts`.
    """
    if word is None or word.text.endswith("ed"):
        return False
    before = question.text[: word.start].lower().split()
    return bool(before) and before[-1] in _HAVING


def _forth(knowledge: Knowledge, relation: int) -> frozenset[str]:
    one = knowledge.schema.relations[relation]
    return _content_stems(" ".join([knowledge.wording.phrases[relation][0], one.description, *one.aliases]))


@lru_cache(maxsize=10_000)
def _content_stems(text: str) -> frozenset[str]:
    return stems(text) - _FUNCTION_STEMS


def _owns(text: str, end: int, word: Word) -> bool:
    """Whether a name is followed by a possessive ending and then by the word: `X's parts`."""
    return text[end : end + 2] in ("'s", "’s") and word.start - end < 24


def _is_passive(text: str, word: Word) -> bool:
    """Whether a verb is passive: a participle with `by` behind it, or with a form of `be` before it."""
    if not word.text.endswith(("ed", "en", "wn")):
        return False
    if _PASSIVE_BY.match(text[word.start + len(word.text) :].lstrip().lower()):
        return True
    before = text[: word.start].lower().split()
    near = before[-3:]
    return any(form in near for form in ("is", "are", "was", "were", "be", "been", "being", "gets", "get", "most"))


def parted(question: AnalysedQuestion, candidate: PlanCandidate) -> int:
    """Return how many pairs of names of one type stand in a list though a candidate walks from each another way."""
    pairs = combinations(candidate.branches, 2)
    return sum(
        one.start.node_type == other.start.node_type
        and one.path.steps != other.path.steps
        and question.lists(one.start.mention, other.start.mention)
        for one, other in pairs
    )
