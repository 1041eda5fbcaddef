"""Drafts in words: English has frames and grammar, any other language gets the base's own words in their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from search.text import words
from training.data.synthesis import condition_words, english, english_words
from training.data.synthesis.base import Base
from training.data.synthesis.english_words import fill
from training.data.synthesis.filter_words import filters_said
from training.data.synthesis.forms import Forms, forms_of
from training.data.synthesis.parts import MadeDraft, MadeStep, MadeWay, Passage

_ASKED = 0.4
"""Share of the questions of one way that are whole questions (`who directed X`) if the relation has such a form."""
_ROLE = 0.5
"""Share of the ways that are said by a noun for the answer (`the director of X`) if the relation has one."""
_SHARING = 0.6
"""Share of the ways to a node and back over one relation that are said as having something in common."""
_ALSO = 0.6
"""Share of the whole questions back over the same relation that say so (`the director of X also directed …`)."""
_ALIAS = 0.3
_LOWER = 0.3
_MARKED = 0.6
"""Shares of nouns that are an alias of the type, questions in lower case, questions with a question mark."""


class Speaker(Protocol):
    """Puts drafts into words of one language."""

    def say(self, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return a question; the same draft is put in another way each time."""
        ...


def speaker_of(base: Base) -> Speaker:
    """Return the speaker for the language of a base."""
    return EnglishSpeaker(base) if base.schema.language.lower().startswith("en") else PlainSpeaker(base)


@dataclass(frozen=True)
class PlainSpeaker:
    """Says the type, the relations' own words and the names, in the order of the way (Speaker)."""

    base: Base

    def say(self, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return the words of a draft, some in another order."""
        if draft.bare:
            return ", ".join(_bare(draft, chance))
        parts = [self._way(way) for way in draft.ways]
        parts += [f"{words(one.field)} {one.op} {_value(one.value)}" for one in draft.filters]
        parts += [draft.passage.said] if draft.passage is not None else []
        parts = [parts[at] for at in chance.permutation(len(parts))]
        noun = _noun(self.base, draft.answer_type, chance)
        if draft.passage is not None and chance.random() < 0.4:
            return ", ".join(parts)
        return f"{noun}: {', '.join(parts)}" if chance.random() < 0.5 else f"{', '.join(parts)}, {noun}"

    def _way(self, way: MadeWay) -> str:
        said = []
        for step in way.steps:
            relation = self.base.schema.relations[step.relation]
            inverse = relation.inverse if "out" not in step.directions else ""
            said += [inverse or relation.description or words(relation.name)]
            said += [words(self.base.schema.node_types[step.far_type].name)]
        return " ".join([*said[:-1], way.passage.said if way.passage is not None else way.name])


@dataclass(frozen=True)
class EnglishSpeaker:
    """Builds noun phrases from the forms of relations, and questions from frames (Speaker)."""

    base: Base
    _forms: dict[tuple[int, bool], Forms] = field(default_factory=dict, init=False)

    def say(self, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return a question."""
        said = self._said(draft, chance)
        said = said if chance.random() >= _LOWER else said.lower()
        if chance.random() < 1 - _LOWER:
            said = said[:1].upper() + said[1:]
        asks = said.lower().startswith(("wh", "are ", "is ", "can ", "could ", "do ", "how ", "in which"))
        return f"{said}?" if asks and chance.random() < _MARKED else said

    def _said(self, draft: MadeDraft, chance: np.random.Generator) -> str:
        if draft.bare:
            return self._in_bare_words(draft, chance)
        whole = not (draft.filters or draft.passage or draft.is_conditioned) and len(draft.ways) == 1
        if whole and chance.random() < _ASKED and (asked := self._asked(draft, chance)):
            return asked
        noun = _noun(self.base, draft.answer_type, chance)
        if not draft.ways and not draft.filters and draft.passage is not None:
            return self._of_text(noun, draft.passage, chance)
        phrase = self._phrase(noun, draft, chance)
        if draft.passage is not None:
            phrase = self._with_text(phrase, draft.passage, chance)
        if draft.order is not None or draft.ask != "which":
            return self._of_phrase(noun, phrase, draft, chance)
        frames: tuple[str, ...] = english_words.FRAMES
        if english.question_word(self.base.schema.node_types[draft.answer_type]) == "who":
            frames += english_words.PEOPLE_FRAMES * 3
        return fill(_one(frames, chance), n=phrase)

    def _in_bare_words(self, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return names and passages in any order, joined by words that say nothing of how they belong together."""
        first, *others = _bare(draft, chance)
        said = first
        for part in others:
            said += f"{_one(english_words.BARE_JOINTS, chance)}{part}"
        return fill(_one(english_words.BARE, chance), p=said)

    def _of_phrase(self, noun: str, phrase: str, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return a question that orders, counts or asks for the existence of what a noun phrase in the plural names."""
        many = english.plural(noun)
        one = f"{noun}{phrase[len(many) :]}" if phrase.startswith(many) else phrase
        if draft.order is not None:
            return condition_words.ordered(
                draft.order, self.base.schema.node_types[draft.answer_type], one, phrase, chance
            )
        frames = condition_words.HOW_MANY if draft.ask == "how many" else condition_words.WHETHER
        return fill(_one(frames, chance), n=phrase, one=one)

    def _asked(self, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return a whole question about one way, or an empty string if its relation has no such form."""
        way = draft.ways[0]
        forms = self._forms_of(way.steps[0], draft.answer_type)
        word = english.question_word(self.base.schema.node_types[draft.answer_type])
        # "When was the release of X" asks for its release year.
        whens = [form for role in forms.roles if " " in role for form in english.whens(role.rpartition(" ")[0])]
        asks = forms.asks + tuple(whens * 2 if word == "when" else ())
        if not asks:
            return ""
        noun = _noun(self.base, draft.answer_type, chance)
        asking = [f"which {noun}", f"what {noun}", f"which {english.plural(noun)}", *[word or "what"] * 3]
        asked = _one(asks, chance)
        if self._returns(way, 0, draft.answer_type) and chance.random() < _ALSO:
            asked = english.also(asked)
        asked = english.agreeing(asked) if len(way.steps) > 1 else asked
        return fill(asked, wh=_one(asking, chance), o=self._thing(way, 0, chance))

    def _phrase(self, noun: str, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return a noun phrase in the plural for the nodes that meet the ways and the filters."""
        after = []
        head = english.plural(noun)
        for at, way in enumerate(draft.ways):
            # "How many director of X" and "the newest director of X" need the noun itself.
            with_role = not at and draft.order is None and draft.ask == "which"
            role, said = self._condition(way, 0, draft.answer_type, chance, with_role=with_role)
            head = role or head
            after += [said] if said else []
        kind = self.base.schema.node_types[draft.answer_type]
        after += filters_said(draft.filters, kind, chance)
        joint = _one((" and ", " and ", ", ", " and also ", " "), chance) if len(after) < 3 else ", "
        phrase = f"{head} {joint.join(after)}".strip()
        if draft.compared is not None:
            phrase += f" {condition_words.compared(draft.compared, kind, chance)}"
        return " ".join([phrase, *(self._excluded(way, draft, chance) for way in draft.exclusions)])

    def _excluded(self, way: MadeWay, draft: MadeDraft, chance: np.random.Generator) -> str:
        """Return what follows a noun phrase for a way that no answer meets."""
        step = way.steps[0]
        form = _one(self._forms_of(step, draft.answer_type).after or ("with {o}",), chance)
        if not way.ends:
            noun = english.plural(_noun(self.base, step.far_type, chance))
            return condition_words.excluded(form, noun, chance, lack=True)
        alike = [one for one in draft.ways if one.steps == way.steps]
        if alike and len(way.steps) == 1 and chance.random() < 0.5:
            # "by Ada but not Grace": the relation was said of the first name.
            return f"{_one(('but not', 'and not', 'without', 'except'), chance)} {way.name}"
        form = english.agreeing(form) if len(way.steps) > 1 else form
        return condition_words.excluded(form, self._thing(way, 0, chance), chance)

    def _condition(
        self, way: MadeWay, at: int, near: int, chance: np.random.Generator, *, with_role: bool = True
    ) -> tuple[str, str]:
        """Return a noun phrase that replaces the noun (or ""), and what follows the noun, for a way from a step on."""
        step = way.steps[at]
        forms = self._forms_of(step, near)
        if self._returns(way, at, near) and chance.random() < _SHARING:
            return "", self._sharing(way, at, near, chance)
        thing = self._thing(way, at, chance)
        if with_role and forms.roles and (not forms.after or chance.random() < _ROLE):
            role = _one(forms.roles, chance)
            many = english.plural(role) if chance.random() < 0.6 else role
            shapes: tuple[str, ...] = ("{r} of {o}", "{r} of {o}", "{r} for {o}")
            # "X's director" is said of a name, and of a longer phrase "the director of".
            shapes += ("{o}'s {r}", "{o} {r}") if at + 1 == len(way.steps) and way.passage is None else ()
            return fill(_one(shapes, chance), r=many, o=thing), ""
        if forms.after:
            after = _one(forms.after, chance)
            return "", fill(english.agreeing(after) if at + 1 < len(way.steps) else after, o=thing)
        loose = (
            "of {o}",
            "for {o}",
            "that {o} has",
            f"in {words(self.base.schema.relations[step.relation].name)} of {{o}}",
        )
        return "", fill(_one(loose, chance), o=thing)

    def _thing(self, way: MadeWay, at: int, chance: np.random.Generator) -> str:
        """Return the node at the far end of a step in words: its name, its passage, or a phrase for the rest."""
        code = way.steps[at].far_type
        noun = _noun(self.base, code, chance)
        if at + 1 < len(way.steps):
            role, said = self._condition(way, at + 1, code, chance)
            if role:
                return f"the {role}"
            return f"{_one(('the', 'the', '', 'any'), chance)} {english.plural(noun)} {said}".strip()
        if way.passage is not None:
            shapes = (
                "a {t} with {p}",
                "the {t} {p}",
                "a {t}: {p}",
                "{p}",
                "the {t} described by {p}",
                "a {t} about {p}",
            )
            return fill(_one(shapes, chance), t=noun, p=way.passage.said)
        shapes = ("{o}", "{o}", "{o}", "{o}", "the {t} {o}", "{t} {o}")
        return fill(_one(shapes, chance), t=noun, o=way.name)

    def _sharing(self, way: MadeWay, at: int, near: int, chance: np.random.Generator) -> str:
        """Return what follows a noun for nodes that share a neighbour with another node of their type."""
        step, between = way.steps[at], way.steps[at].far_type
        thing = self._thing(way, at + 1, chance)
        back = self._forms_of(MadeStep(step.relation, way.steps[at + 1].directions, near), between)
        noun = _noun(self.base, between, chance)
        if "out" in step.directions:
            role = _one((*back.roles, noun), chance)
            role = role if chance.random() < 0.5 else english.plural(role)
            return fill(_one(english_words.SHARED_TARGET, chance), r=role, o=thing)
        done = [form.split()[1] for form in self._forms_of(step, near).after if form.startswith(("that ", "who "))]
        done = [verb for verb in done if not verb.startswith("{")] or ["appear in"]
        shape = _one(english_words.SHARED_SOURCE, chance)
        return fill(shape, b=english.plural(noun), d=_one(done, chance), o=thing)

    def _returns(self, way: MadeWay, at: int, near: int) -> bool:
        """Return whether a step is followed by the same relation back to the type it came from."""
        if at + 1 >= len(way.steps):
            return False
        forth, back = way.steps[at], way.steps[at + 1]
        return forth.relation == back.relation and forth.directions != back.directions and back.far_type == near

    def _of_text(self, noun: str, passage: Passage, chance: np.random.Generator) -> str:
        """Return a question that only describes the answer."""
        if _goes_on(passage):
            return fill(_one(english_words.TEXT_GOING_ON, chance), t=noun, p=passage.said)
        return fill(_one(english_words.TEXT_ALONE, chance), t=noun, p=passage.said)

    def _with_text(self, phrase: str, passage: Passage, chance: np.random.Generator) -> str:
        """Return a noun phrase with a passage behind it, sometimes before it."""
        if _goes_on(passage):
            return f"{phrase} {_one(('and that', 'that', 'and also', 'and'), chance)} {passage.said}"
        if chance.random() < 0.2:
            return f"{passage.said}, {phrase}"
        after = english_words.SENTENCE_AFTER if passage.sentence else english_words.TEXT_AFTER
        return fill(_one(after, chance), n=phrase, p=passage.said)

    def _forms_of(self, step: MadeStep, near: int) -> Forms:
        """Return the forms of a step as seen from its nearer end, of the type `near`."""
        source = "out" in step.directions
        if len(step.directions) == 2 and near != step.far_type:
            source = self._usual(step, near)
        key = step.relation, source
        if key not in self._forms:
            self._forms[key] = forms_of(self.base.schema.relations[step.relation], answer_is_source=source)
        return self._forms[key]

    def _usual(self, step: MadeStep, near: int) -> bool:
        """Return whether most edges of a relation between two types lead from the nearer type to the farther."""
        counts = self.base.schema.edges_between[self.base.schema.relations[step.relation].name]
        return counts.get((near, step.far_type), 0) >= counts.get((step.far_type, near), 0)


def _goes_on(passage: Passage) -> bool:
    """Return whether a passage is a sentence whose subject was taken out: it begins with its verb."""
    return passage.sentence and passage.said.partition(" ")[0] in english_words.FINITE


def _bare(draft: MadeDraft, chance: np.random.Generator) -> list[str]:
    """Return the names and passages of a draft in any order."""
    said = [way.passage.said if way.passage is not None else way.name for way in draft.ways]
    said += [draft.passage.said] if draft.passage is not None else []
    return [said[at] for at in chance.permutation(len(said))]


def _noun(base: Base, code: int, chance: np.random.Generator) -> str:
    """Return the name of a node type in words, or one of its aliases."""
    kind = base.schema.node_types[code]
    if kind.aliases and chance.random() < _ALIAS:
        return kind.aliases[int(chance.integers(len(kind.aliases)))]
    return words(kind.name)


def _one(texts: tuple[str, ...] | list[str], chance: np.random.Generator) -> str:
    return texts[int(chance.integers(len(texts)))]


def _value(value: object) -> str:
    return "–".join(map(str, value)) if isinstance(value, list) else str(value)
