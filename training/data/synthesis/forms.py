"""How a relation is said from either of its ends, in English: the forms that a noun phrase and a question are made of.

A form is a text with `{o}` for the other node, and `{wh}` for the word that asks. Relations have a description and an
inverse wording at best, and at least a name; the forms follow from the shape of these words alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.graph import Relation
from search.text import words
from training.data.synthesis import english


@dataclass(frozen=True, slots=True)
class Forms:
    """Forms of a relation as seen from the answer.

    `after` follow the noun for the answers, in the plural (`directed by {o}`). `roles` are nouns for the answers,
    in the singular (`director`). `asks` are whole questions (`{wh} directed {o}`).
    """

    after: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()

    def __add__(self, other: Forms) -> Forms:
        """Return the forms of both, each once."""
        return Forms(
            tuple(dict.fromkeys(self.after + other.after)),
            tuple(dict.fromkeys(self.roles + other.roles)),
            tuple(dict.fromkeys(self.asks + other.asks)),
        )


def forms_of(relation: Relation, *, answer_is_source: bool) -> Forms:
    """Return the forms of a relation if the answer is the source of its edges, or if it is their target."""
    name = words(relation.name)
    from_source = [relation.description or name]
    from_target = [relation.inverse] if relation.inverse else []
    subject, thing = (from_source, from_target) if answer_is_source else (from_target, from_source)
    forms = Forms()
    for phrase in filter(None, subject):
        forms += _answer_does(phrase, described=phrase != name)
    for phrase in filter(None, thing):
        forms += _done_to_answer(phrase, described=phrase != name)
    for alias in relation.aliases:
        forms += _alias(alias, answer_is_source=answer_is_source)
    if relation.description and name.startswith(("has ", "have ")):
        # The name of such a relation is a noun that the description may lack.
        forms += _with(name.partition(" ")[2]) if answer_is_source else _role(name.partition(" ")[2])
    return forms


def _alias(alias: str, *, answer_is_source: bool) -> Forms:
    """Return the forms of another name of a relation: a verb phrase, or a noun."""
    first, _, rest = alias.partition(" ")
    last = alias.rpartition(" ")[2]
    if last == "together":
        return Forms((f"{alias} with {{o}}", f"that are {alias} with {{o}}"), (), (f"{{wh}} is {alias} with {{o}}",))
    if last in english.PREPOSITIONS or (english.is_participle(first) and not rest):
        return (_answer_does if answer_is_source else _done_to_answer)(alias, described=False)
    return _with(alias) if answer_is_source else _role(alias)


def _answer_does(phrase: str, *, described: bool) -> Forms:
    """Return the forms of a phrase whose subject is the answer: `movies directed by {o}`."""
    first, _, rest = phrase.partition(" ")
    last = phrase.rpartition(" ")[2]
    if first in ("is", "are", "was", "were") and rest:
        doing = _answer_does(rest, described=False) if english.is_participle(rest.partition(" ")[0]) else Forms()
        return Forms((f"{rest} {{o}}", f"that {english.with_number(phrase, True)} {{o}}")) + doing
    if english.is_participle(first) and (last in english.PREPOSITIONS or not rest):
        active = [f"that {{o}} {english.past(first)}", "by {o}"] if last == "by" else []
        done = (f"{{o}} {english.past(first)} {{wh}}", f"{{wh}} did {{o}} {_infinitive(first)}") if active else ()
        return Forms((f"{phrase} {{o}}", f"that are {phrase} {{o}}", *active), (), done if _infinitive(first) else ())
    if first in ("has", "have") and rest:
        return _with(rest)
    if first in english.PREPOSITIONS and rest and not described:
        return Forms((f"{phrase} {{o}}", f"{first} {{o}}", f"that are {first} {{o}}")) + _with(rest)
    if described or (first.endswith("s") and last in english.PREPOSITIONS) or (first.endswith("s") and not rest):
        return Forms((f"that {english.with_number(phrase, True)} {{o}}",), (), (f"{{wh}} {phrase} {{o}}",))
    if last in english.PREPOSITIONS:
        return Forms((f"{phrase} {{o}}", f"that are {phrase} {{o}}"))
    return _with(phrase)


def _done_to_answer(phrase: str, *, described: bool) -> Forms:
    """Return the forms of a phrase whose object is the answer: `people that directed {o}`."""
    first, _, rest = phrase.partition(" ")
    last = phrase.rpartition(" ")[2]
    if first in ("is", "are", "was", "were") and rest:
        made = Forms((f"that {{o}} {phrase}",), (), (f"{{wh}} {first} {{o}} {rest}", f"{{o}} {phrase} {{wh}}"))
        return made + (_by(rest) if rest.endswith(" by") else Forms())
    if english.is_participle(first) and last in english.PREPOSITIONS:
        asks = (f"{{o}} was {phrase} {{wh}}", f"{{wh}} was {{o}} {phrase}")
        return Forms((f"that {{o}} was {phrase}",), (), asks) + (_by(phrase) if last == "by" else Forms())
    if first in ("has", "have") and rest:
        return _role(rest)
    if first in english.PREPOSITIONS and rest and not described:
        inside = (f"{first} which {rest} is {{o}}", f"what {rest} is {{o}} {first}", f"{{o}} is {first} which {rest}")
        return Forms((), (), inside) + _role(rest)
    if described or (first.endswith("s") and (last in english.PREPOSITIONS or not rest)):
        asked = english.asked_of(phrase, "{wh}", "{o}")
        return Forms((f"that {{o}} {phrase}",), (), (asked, f"{{o}} {phrase} {{wh}}"))
    if last in english.PREPOSITIONS:
        return Forms((f"that {{o}} is {phrase}",), (), (f"{{wh}} is {{o}} {phrase}",))
    return _role(phrase)


def _with(noun: str) -> Forms:
    """Return the forms of a noun for the other node: `movies with genre {o}`, `movies starring {o}`."""
    first, _, rest = noun.partition(" ")
    last = noun.rpartition(" ")[2]
    after = [f"with {noun} {{o}}", f"whose {noun} is {{o}}", f"with {{o}} as {english.singular(noun)}"]
    asks: list[str] = []
    if rest:
        after += [f"with {last} {{o}}", f"with the {english.singular(last)} {{o}}"]
    if rest and first.endswith("ed"):
        after += [f"{first[:-2]}ing {{o}}", f"that {{o}} {english.past(first)} in", f"{{o}} {english.past(first)} in"]
    if did := english.acting(last):
        after += [f"that {{o}} {did} in", f"{{o}} {did} in"]
        asks = [f"what does {{o}} {did.removesuffix('ed')} in", f"{{o}} {did} in {{wh}}"]
    return Forms(tuple(after), (), tuple(asks))


def _role(noun: str) -> Forms:
    """Return the forms of a noun for the answer: `the genre of {o}`, `who starred in {o}`."""
    first, _, rest = noun.partition(" ")
    last = noun.rpartition(" ")[2]
    one = english.singular(noun)
    roles = [one, *([english.singular(last)] if rest else [])]
    after: list[str] = []
    asks = [f"what {one} does {{o}} have", f"what is the {one} of {{o}}", f"{{o}} has which {one}"]
    doing = [english.acting(last), *([english.past(first)] if rest and first.endswith("ed") else [])]
    for did in filter(None, doing):
        after += [f"that {did} in {{o}}", f"who {did} in {{o}}"]
        asks += [f"{{wh}} {did} in {{o}}"]
    if rest and first.endswith("ed"):
        asks += [f"{{o}} {first} {{wh}}", f"{{o}} {first} which {english.plural(english.singular(last))}"]
    return Forms(tuple(after), tuple(dict.fromkeys(roles)), tuple(asks))


def _by(phrase: str) -> Forms:
    """Return the forms of `directed by` for who does it: `the director of {o}`, `who directed {o}`."""
    participle = phrase.rpartition(" by")[0].rpartition(" ")[2]
    if not english.is_participle(participle):
        return Forms()
    did, noun = english.past(participle), english.agent(participle)
    after = (f"that {did} {{o}}", f"who {did} {{o}}", f"{{o}} was {participle} by")
    return Forms(after, (noun,) if noun else (), (f"{{wh}} {did} {{o}}",))


def _infinitive(participle: str) -> str:
    """Return the infinitive of a participle where it is sure: `directed` → `direct`."""
    noun = english.agent(participle)
    return noun[:-2] if noun.endswith("or") and participle == f"{noun[:-2]}ed" else ""
