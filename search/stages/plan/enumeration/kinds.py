"""Names of a kind behind a relation's words: *made of wool* means the materials whose names end in *wool*.

A word such as *wool* may be the alias of a category, the end of the name of a material, or both. The relation in front
of it says which type of node is meant, so its word settles what no spelling can.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from search.interfaces import Mention, MentionIndex, NodeStore
from search.language.names import Named
from search.language.question import AnalysedQuestion, Word
from search.language.words import stem
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.lexicon import content_stems

_SURE = 0.9
"""Similarity of the end of a name behind words of a relation that leads to nodes of its type."""


@dataclass(frozen=True)
class NamedKinds:
    """Finds the names of a kind in a question."""

    knowledge: Knowledge
    mentions: MentionIndex
    nodes: NodeStore

    def of(self, question: AnalysedQuestion) -> list[Named]:
        """Return the names of the question, with names of kinds instead of the inflected names of other types there.

        Only single words count, and none that is a name or a value as it is stored, or stands right behind one.
        """
        held = [(name.mention.start, name.mention.end) for name in question.names if name.mention.similarity == 1]
        held += [(value.start, value.end) for value in question.values if value.similarity == 1]
        names = list(question.names)
        for word in question.said:
            if not word.content or any(start <= word.start < end for start, end in held):
                names += self._acting(question, word) if word.content else []
                continue
            if any(end < word.start and not question.text[end : word.start].strip() for _, end in held):
                # *Writes SVG files*: the noun of a name right before it.
                continue
            if (types := self._types_before(question, word)) and (kind := self._kind(question, word, types)):
                names = [name for name in names if not name.overlaps(kind)] + [kind]
        return sorted(names, key=lambda one: (one.mention.start, -one.mention.end))

    def excluded(self, question: AnalysedQuestion) -> list[Named]:
        """Return the names of the question; what an excluded word names stands there with what ends with that word.

        *Without cough* excludes the dry cough, too. Only single words in lower case count that name nodes as stored.
        """
        return [
            self._with_kinds(question, one) if role == "excluded" and one.how == "name" else one
            for one, role in zip(question.names, question.roles, strict=True)
        ]

    def _with_kinds(self, question: AnalysedQuestion, name: Named) -> Named:
        mention = name.mention
        if name.words > 1 or name.marked or mention.similarity < 1:
            return name
        own = set(self.nodes.types(mention.keys).tolist())
        more = [
            key
            for other in self.mentions.ending(question.text, mention.start, mention.end)
            for key, code in zip(other.keys, self.nodes.types(other.keys).tolist(), strict=True)
            if code in own and key not in mention.keys
        ]
        exact = (*(mention.exact or (True,) * len(mention.keys)), *(False for _ in more))
        return replace(name, mention=replace(mention, keys=(*mention.keys, *more), exact=exact)) if more else name

    def _kind(self, question: AnalysedQuestion, word: Word, types: frozenset[int]) -> Named | None:
        """Return the nodes of some types whose names end with a word; None where a better name of them has it."""
        end = word.start + len(word.text)
        around = [one for one in question.names if one.mention.start < end and word.start < one.mention.end]
        if any(one.words > 1 or not types.isdisjoint(self.nodes.types(one.mention.keys).tolist()) for one in around):
            return None
        for mention in self.mentions.ending(question.text, word.start, end):
            keys = [key for key, code in zip(mention.keys, self.nodes.types(mention.keys), strict=True)
                    if int(code) in types]  # fmt: skip
            if keys:
                return _named(replace(mention, keys=tuple(keys), exact=(False,) * len(keys), similarity=_SURE))
        return None

    def _acting(self, question: AnalysedQuestion, word: Word) -> list[Named]:
        """Return the nodes whose names end with a word that is itself a name, where a verb behind it asks for these.

        *Everything Holm directed* asks for what the person did, though something else is called just *Holm*. Both are
        kept, so that the plans decide.
        """
        end = word.start + len(word.text)
        if not any((one.mention.start, one.mention.end) == (word.start, end) for one in question.names):
            return []
        behind = next((one for one in question.said if one.start >= end), None)
        types = self._led_to(behind.text) if behind is not None and behind.content else frozenset()
        kind = self._kind(question, word, types) if types else None
        return [kind] if kind is not None else []

    def _types_before(self, question: AnalysedQuestion, word: Word) -> frozenset[int]:
        """Return the types at the end of the relations that the words before a word say; other names may stand between.

        In *made of wool and oak* the relation is said of both.
        """
        held = [(name.mention.start, name.mention.end) for name in question.names]
        before = [
            one
            for one in question.said
            if one.content and one.start < word.start and not any(start <= one.start < end for start, end in held)
        ]
        return self._led_to(before[-1].text) if before else frozenset()

    def _led_to(self, said: str) -> frozenset[int]:
        """Return the types to which the relations lead that words in front of a name say by their letters."""
        known, schema = self.knowledge, self.knowledge.schema
        own = {stem(part) for part in said.split()}
        types: set[int] = set()
        for relation in known.lexicon.said_relations(said):
            one = schema.relations[relation]
            forth = own & content_stems(" ".join([known.wording.phrases[relation][0], one.description, *one.aliases]))
            for kind in schema.relation_types:
                if kind.relation == one.name:
                    types.add(schema.type_codes[kind.target if forth or not one.inverse else kind.source])
        return frozenset(types)


def _named(mention: Mention) -> Named:
    return Named(mention, 1, quoted=False, capitalised=False, exact=True, ordinary=False)
