"""choose_base: which knowledge base a question is for, where the asker named none.

Choosing among collections before searching them is *resource selection* in federated search. CORI (Callan, Lu, Croft
1995) compares how usual the question's words are in each collection; here names and words of the schema count as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from search import wiring
from search.domain.errors import StageError
from search.domain.graph import Schema
from search.domain.question import LONGEST_QUESTION
from search.interfaces import MentionIndex, TextIndex
from search.language.worded import worded
from search.models import KnowledgeBase, Release
from search.services.access.visitors import User
from search.text import words

MOST_OTHERS = 2
"""Most other knowledge bases that are named beside the chosen one."""
LEAST_SHARE = 0.1
"""Least share of the probability with which another knowledge base is named."""
_RAREST = 9.0
"""The idf above which a word is rare, however large the base."""
_LONGEST = 4
"""Words of a name above which it is a long one."""
_WEIGHTS = {"rarity": -0.041, "unknown": -0.369, "schema": 0.69, "named": 4.8, "longest": 0.70, "size": -0.247}
"""Weight of each feature: conditional logit, fitted on 272 training questions over ten knowledge bases."""


@dataclass(frozen=True)
class FittingBase:
    """A knowledge base with the probability, among those that the asker may search, that a question is for it."""

    base: KnowledgeBase
    share: float


def fitting_base(named: object, question: object, user: User) -> tuple[object, list[str] | None]:
    """Return the knowledge base to ask, and others that the question may be for.

    The others are None if a knowledge base is named, if there is no question, or nothing to choose from.
    """
    if named not in (None, "") or not isinstance(question, str) or not question.strip():
        return named, None
    visible = KnowledgeBase.objects.visible_to(user).filter(active_release__isnull=False)
    bases = list(visible.only("name", "active_release_id", "active_settings_id").order_by("name"))
    if not bases:
        return named, None
    if len(bases) == 1:
        return bases[0].name, []
    best, *others = choose_base(question[:LONGEST_QUESTION], bases)
    return best.base.name, [one.base.name for one in others if one.share >= LEAST_SHARE][:MOST_OTHERS]


def choose_base(question: str, bases: Sequence[KnowledgeBase]) -> list[FittingBase]:
    """Return the knowledge bases by how well they fit a question, the best first.

    Bases whose index files this machine lacks come last, in the order given, with a share of 0.
    """
    glosses: dict[str, str] = {}
    scores: dict[int, float] = {}
    for base in bases:
        assert base.active_release_id is not None
        try:
            sources = _sources(base.active_release_id, base.active_settings_id)
            code = sources.schema.language
            if code not in glosses:
                glosses[code] = worded(question, code).text
            scores[base.pk] = sources.score(glosses[code])
        except (StageError, OSError):
            # This machine has not got its files; whoever names the base has them fetched.
            continue
    highest = max(scores.values(), default=0.0)
    powers = {key: math.exp(score - highest) for key, score in scores.items()}
    total = sum(powers.values()) or 1.0
    found = [FittingBase(base, powers.get(base.pk, 0.0) / total) for base in bases]
    return sorted(found, key=lambda one: -one.share)


@dataclass(frozen=True)
class _Sources:
    """What a knowledge base is known by: its texts, its names, and the words of its schema in the texts' stems."""

    schema: Schema
    text: TextIndex
    mentions: MentionIndex
    of_schema: frozenset[str]
    nodes: int

    def score(self, question: str) -> float:
        """Return how well the base fits a question in its language; only differences between bases mean something."""
        said = self.text.rarities(question)
        most = min(_RAREST, math.log(2 * self.nodes + 2))
        named: set[int] = set()
        longest = 0
        for mention in self.mentions.find(question):
            named.update(at for at in range(mention.start, mention.end) if not question[at].isspace())
            longest = max(longest, len(question[mention.start : mention.end].split()))
        letters = sum(not one.isspace() for one in question) or 1
        features = {
            "rarity": sum(most if one is None else min(one, _RAREST) for one in said.values()),
            "unknown": float(sum(one is None for one in said.values())),
            "schema": float(sum(word in self.of_schema for word in said)),
            "named": len(named) / letters,
            "longest": float(min(longest, _LONGEST)) if longest > 1 else 0.0,
            "size": math.log(max(1, self.nodes)),
        }
        return sum(_WEIGHTS[name] * value for name, value in features.items())


@lru_cache(maxsize=64)
def _sources(release_id: int, settings_id: int | None) -> _Sources:
    """Return what a release is known by under these settings; its files are opened once a process, as mapped memory."""
    release = Release.objects.select_related("snapshot", "knowledge_base__active_settings").get(pk=release_id)
    schema, directory = wiring.schema_of(release), release.snapshot.directory
    text: TextIndex = wiring.build("text", directory=directory / "bm25", schema=schema)
    mentions: MentionIndex = wiring.build("mentions", directory=directory / "mentions", near=directory / "near_names")
    said = [name for kind in schema.node_types for name in (kind.name, *kind.aliases)]
    said += [field.name for kind in schema.node_types for field in kind.fields]
    for relation in schema.relations:
        said += [relation.name, relation.description, relation.inverse, *relation.aliases]
    of_schema = frozenset(word for one in said for word in text.rarities(words(one)))
    return _Sources(schema, text, mentions, of_schema, sum(kind.count for kind in schema.node_types))


wiring.forget_with_releases(_sources.cache_clear)
