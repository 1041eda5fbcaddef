"""What a superlative before the name of a kind is said of: *the cheapest tent* is a tent, and no set of tent pegs.

A category holds more than its name says. Where the names of several of its members have the noun as their head, these
are what the noun means; the others may be meant as well, so this is one more reading.
"""

from __future__ import annotations

import re

from search.domain.filtering import NAME
from search.domain.plan import Filter
from search.interfaces import NodeStore
from search.language.words import FUNCTION_WORDS, stem
from search.language.words import words as words_of
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.enumeration.enumerate import Branch
from search.stages.plan.write import TARGET

_FEWEST, _MOST = 2, 500
"""Fewest names with the noun as their head (a single one does not show that names say what their nodes are), and most
members of a kind whose names are read."""
_MARK = re.compile(r"[,;:(\[]|\s[-–—]\s")
_SHORTEST = 3
"""Fewest letters of a noun; *L* and *No* behind it belong to a number."""


def of_the_noun(core: Core, nodes: NodeStore) -> Condition | None:
    """Return the condition that the noun behind a superlative is the head of an answer's name.

    None where names do not say so. It expresses no words of its own: the name of the kind does.
    """
    question = core.question
    for branch in core.candidate.branches:
        mention = question.names[branch.start.mention].mention
        limits = [
            one.limit
            for one in question.superlatives
            if one.end <= mention.start and not question.text[one.end : mention.start].strip()
        ]
        said = limits and branch.walked and mention.how != "synonym"
        if said and branch.path.end != branch.path.start:
            names = _names(branch, stem(words_of(mention.text)[-1]), nodes)
            if len(names) >= max(_FEWEST, *limits):
                return Condition((mention.start, mention.end), 1.0, filters=(Filter(TARGET, NAME, "in", names),))
    return None


def head_of(name: str) -> str:
    """Return the head of a name in lower case: its last word before a mark, a number or a preposition.

    *Storm Pegs, Set of 8* → `pegs`; *Flask 0.5 L* → `flask`; empty where nothing is left.
    """
    said = words_of(_MARK.split(name, maxsplit=1)[0])
    end = next((at for at, word in enumerate(said) if at and word in FUNCTION_WORDS), len(said))
    nouns = [word for word in said[:end] if len(word) >= _SHORTEST and not any(letter.isdigit() for letter in word)]
    return nouns[-1] if nouns else ""


def _names(branch: Branch, noun: str, nodes: NodeStore) -> list[str]:
    """Return the names with this head (its stem) of the nodes that a walk finds; none if all have it."""
    keys = branch.found.tolist()
    if len(keys) > _MOST:
        return []
    own = [one.name for one in nodes.references(keys) if stem(head_of(one.name)) == noun]
    return own if len(own) < len(keys) else []
