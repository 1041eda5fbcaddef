"""English grammar for synthesised questions: plurals, verbs, the nouns of those who act. No word of any domain."""

from __future__ import annotations

import re

from search.domain.graph import NodeType
from search.language.words import ANSWER_OF
from search.text import words

PREPOSITIONS = frozenset(
    ["by", "in", "on", "at", "of", "to", "from", "with", "for", "as", "into", "under", "over", "about"]
)
_IRREGULAR = {
    "written": ("wrote", "writer"), "made": ("made", "maker"), "sung": ("sang", "singer"),
    "built": ("built", "builder"),
    "held": ("held", "holder"), "led": ("led", "leader"), "taught": ("taught", "teacher"), "sold": ("sold", "seller"),
    "won": ("won", "winner"), "bought": ("bought", "buyer"), "drawn": ("drew", ""), "found": ("found", "finder"),
    "taken": ("took", "taker"), "given": ("gave", "giver"), "spoken": ("spoke", "speaker"), "known": ("knew", ""),
    "driven": ("drove", "driver"), "chosen": ("chose", ""), "seen": ("saw", ""), "grown": ("grew", "grower"),
    "shown": ("showed", ""), "told": ("told", "teller"), "bound": ("bound", "binder"), "run": ("ran", "runner"),
}  # fmt: skip
"""Participle → past tense, and the noun of who does it ("" where there is no usual one)."""
_PLURALS = {"is": "are", "was": "were", "has": "have", "does": "do"}
_VERB_BEFORE = re.compile(r"\b(is|was|has|does) \{o\}")
_BEING = re.compile(r"\{o\} (is|was|has) ")
_VERB_AFTER = re.compile(r"\{o\} (is|was|has|does|\w+[^s\W]s)\b")
_PEOPLE = {"people": "people", "person": "people", "man": "men", "woman": "women", "child": "children"}
_OR = ("at", "ct", "it", "ut", "ess", "vent", "iz")
_MODALS = frozenset(["may", "can", "must", "should", "will", "could", "might", "would"])
_SAME_BOTH_WAYS = ("with", "together", "similar to", "related to", "alike")


def plural(noun: str) -> str:
    """Return the plural of a noun or of a phrase that ends with one."""
    head, _, last = noun.rpartition(" ")
    if last in _PEOPLE:
        said = _PEOPLE[last]
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        said = f"{last[:-1]}ies"
    elif last.endswith(("s", "x", "ch", "sh", "z")):
        said = last if last.endswith("s") and not last.endswith("ss") else f"{last}es"
    else:
        said = f"{last}s"
    return f"{head} {said}".strip()


def singular(noun: str) -> str:
    """Return the singular of a noun that ends with a plural's s; other words are returned unchanged."""
    if noun.endswith("ies") and len(noun) > 4:
        return f"{noun[:-3]}y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and len(noun) > 3 else noun


def is_participle(word: str) -> bool:
    """Return whether a word is a past participle by its form."""
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 4)


def past(participle: str) -> str:
    """Return the past tense of a participle: `written` → `wrote`."""
    return _IRREGULAR[participle][0] if participle in _IRREGULAR else participle


def agent(participle: str) -> str:
    """Return the noun of who does it: `directed` → `director`; an empty string where none is usual."""
    if participle in _IRREGULAR:
        return _IRREGULAR[participle][1]
    stem = participle[:-2]
    if stem.endswith(("or", "er")):
        return stem
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] in "bdgmnprt":
        stem = stem[:-1]
    return f"{stem}or" if stem.endswith(_OR) else f"{stem[:-1]}ier" if stem.endswith("i") else f"{stem}er"


def acting(noun: str) -> str:
    """Return the past tense of what somebody does who is called so: `actor` → `acted`; or an empty string."""
    one = singular(noun)
    if one.endswith("ator"):
        return f"{one[:-2]}ed"
    return f"{one[:-2]}ed" if one.endswith(("ctor", "itor", "ntor", "utor")) else ""


def with_number(phrase: str, many: bool) -> str:
    """Return a verb phrase in the third person, singular or plural: `is made by` → `are made by`."""
    first, _, rest = phrase.partition(" ")
    return f"{_many(first)} {rest}".strip() if many else phrase


def _many(verb: str) -> str:
    if verb in _PLURALS:
        return _PLURALS[verb]
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    if verb.endswith(("sses", "shes", "ches", "xes")):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def agreeing(form: str) -> str:
    """Return a form whose verb is in the plural where its subject is `{o}`: `was {o} made by` → `were {o} made by`."""
    form = _VERB_BEFORE.sub(lambda found: f"{_PLURALS[found[1]]} {{o}}", form)
    return _VERB_AFTER.sub(lambda found: f"{{o}} {_many(found[1])}", form)


def also(form: str) -> str:
    """Return a form that says `also` where `{o}` does something: `{o} wrote {wh}` → `{o} also wrote {wh}`."""
    return form if _BEING.match(form) else re.sub(r"^\{o\} ", "{o} also ", form)


def asked_of(phrase: str, wh: str, thing: str) -> str:
    """Return the question for the object of a verb phrase: (`acts on`, `what`, X) → `what does X act on`."""
    first, _, rest = phrase.partition(" ")
    if first in ("is", "was", "are", "were") or first in _MODALS:
        return f"{wh} {first} {thing} {rest}".strip()
    if is_participle(first):
        return f"{wh} was {thing} {phrase}"
    return f"{wh} does {thing} {_many(first)} {rest}".strip()


def whens(event: str) -> list[str]:
    """Return questions for the time of an event: `release` → `when did {o} release`, `when was {o} released`."""
    done = f"{event}d" if event.endswith("e") else f"{event}ed"
    return [f"when was the {event} of {{o}}", f"when did {{o}} {event}", f"when was {{o}} {done}"]


def same_both_ways(phrase: str) -> bool:
    """Return whether a relation between nodes of one type says the same from either side, by its words."""
    return phrase.endswith(_SAME_BOTH_WAYS)


def question_word(kind: NodeType) -> str:
    """Return `who`, `when` or `where` if a node type's name or aliases fit one of them, else an empty string."""
    said = {part for phrase in (kind.name, *kind.aliases) for part in words(phrase).split()}
    return next((wh for wh, types in ANSWER_OF.items() if said & set(types.split())), "")
