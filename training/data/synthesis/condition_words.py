"""Exclusions, orders and comparisons in English. Adjectives of a property are from the language's list of scales."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from search.domain.graph import NodeType
from search.domain.plan import Count, Order
from search.language.languages import forms, language, split
from search.language.quantities import UNITS
from search.text import words
from training.data.synthesis import english
from training.data.synthesis.english_words import fill
from training.data.synthesis.parts import MadeComparison

_NUMBERS = {2: ("two", "2"), 3: ("three", "3")}
_EXCEPT = ("except those {a}", "except the ones {a}", "other than those {a}", "excluding those {a}",
           "but not those {a}", "besides those {a}", "apart from those {a}")  # fmt: skip
"""Exclusions of all nodes that a condition `{a}` describes."""
_THAT = re.compile(r"^(that|who) (are|were|have|can|must|may|will) (.*)$")
_VERB = re.compile(r"^(that|who) (?!\{)(\w+)( .*)$")

_FIRST_BY_WORD = ("which {p1} is the {s}", "what is the {s} {p1}", "the {s} {p1}", "{s} {p1}", "find the {s} {p1}",
                  "which of the {p} is the {s}", "which is the {s} of the {p}", "what's the {s} {p1}",
                  "show me the {s} {p1}")  # fmt: skip
_FIRST_BY_FIELD = ("which {p1} has the {h} {f}", "the {p1} with the {h} {f}", "{p1} with the {h} {f}",
                   "which of the {p} has the {h} {f}", "what {p1} has the {h} {f}")  # fmt: skip
_SEVERAL_BY_WORD = ("the {n} {s} {p}", "which are the {n} {s} {p}", "{n} {s} {p}", "what are the {n} {s} {p}",
                    "show me the {n} {s} {p}")  # fmt: skip
_SEVERAL_BY_FIELD = ("the {n} {p} with the {h} {f}", "which {n} {p} have the {h} {f}")
_COUNTED = ("which {p1} has the {m} {c}", "the {p1} with the {m} {c}", "{p1} with the {m} {c}",
            "which of the {p} has the {m} {c}", "what {p1} has the {m} {c}")  # fmt: skip
_SEVERAL_COUNTED = ("the {n} {p} with the {m} {c}", "which {n} {p} have the {m} {c}")
_MANY = {"desc": ("most", "largest number of", "highest number of", "greatest number of"),
         "asc": ("fewest", "smallest number of", "lowest number of")}  # fmt: skip
_ENDS = {"desc": ("highest", "largest", "greatest"), "asc": ("lowest", "smallest")}
_TIME_ENDS = {"desc": ("latest", "most recent", "newest"), "asc": ("earliest", "oldest")}

HOW_MANY = ("how many {n} are there", "how many {n} are there", "how many {n}", "number of {n}", "count the {n}",
            "what is the number of {n}", "how many {n} do you have", "how many different {n} are there")  # fmt: skip
WHETHER = ("is there a {one}", "is there any {one}", "are there {n}", "are there any {n}", "do you have any {n}",
           "does a {one} exist")  # fmt: skip


def excluded(after: str, thing: str, chance: np.random.Generator, *, lack: bool = False) -> str:
    """Return what follows a noun for nodes that a form (`directed by {o}`) is not true of; `thing` fills `{o}`.

    With `lack`, nothing at all may be there, and `thing` is the plural of a noun.
    """
    shapes = [f"not {after}"]
    if found := _THAT.match(after):
        who, verb, rest = found.groups()
        shapes = [f"{who} {verb} not {rest}"] if verb != "have" else [f"{who} do not have {rest}"]
        shapes += [f"{who} {verb}n't {rest}"] if verb in ("are", "were") else []
    elif found := _VERB.match(after):
        who, verb, rest = found.groups()
        shapes = [f"{who} do not {verb}{rest}", f"{who} don't {verb}{rest}", f"{who} never {verb}{rest}"]
    elif after.startswith("with "):
        shapes = [f"without {after[5:]}", f"but without {after[5:]}", *([] if lack else [f"but not {after}"])]
    elif after.startswith(("that ", "whose ", "who ")):
        shapes = []
    elif not lack:
        shapes = [f"but not {after}", f"not {after}", f"that are not {after}", f"that aren't {after}"]
    if lack:
        noun = english.singular(thing)
        shapes = [shape.replace("{o}", "any {o}") for shape in shapes if not shape.endswith("{o} in")]
        shapes += [
            "without any {o}",
            "without {o}",
            "with no {o}",
            "that have no {o}",
            "that lack {o}",
            "that have no {t}",
        ]
        return fill(_one(tuple(shapes), chance), o=thing, t=noun)
    shapes += [fill(shape, a=after) for shape in _EXCEPT]
    return fill(_one(tuple(shapes), chance), o=thing)


def ordered(order: Order, kind: NodeType, one: str, many: str, chance: np.random.Generator) -> str:
    """Return a question for the first nodes of an order; `one` and `many` are noun phrases for what is ordered."""
    number = _one(_NUMBERS[order.limit], chance) if order.limit in _NUMBERS else ""
    if isinstance(order.by, Count):
        counted = english.plural(words(order.by.to_label))
        said = _one(_SEVERAL_COUNTED if number else _COUNTED, chance)
        return fill(said, p1=one, p=many, n=number, c=counted, m=_one(_MANY[order.direction], chance))
    scale = ConditionScale.of(order.field, kind)
    superlatives = [form for form in scale.superlatives(order.direction) if form]
    if superlatives and chance.random() < 0.7:
        said = _one(_SEVERAL_BY_WORD if number else _FIRST_BY_WORD, chance)
        return fill(said, p1=one, p=many, n=number, s=_one(tuple(superlatives), chance))
    ends = _TIME_ENDS if scale.of_time else _ENDS
    said = _one(_SEVERAL_BY_FIELD if number else _FIRST_BY_FIELD, chance)
    return fill(
        said, p1=one, p=many, n=number, f=scale.noun, h=_one(ends[order.direction], chance)
    )  # fmt: skip


def compared(told: MadeComparison, kind: NodeType, chance: np.random.Generator) -> str:
    """Return what follows a noun for nodes whose field compares with that of a named node."""
    scale, more = ConditionScale.of(told.field, kind), told.op == ">"
    shapes = [
        f"with a {'higher' if more else 'lower'} {{f}} than {{x}}",
        f"with {'more' if more else 'less'} {{f}} than {{x}}",
    ]
    if scale.of_time:
        shapes = [f"with a {'later' if more else 'earlier'} {{f}} than {{x}}", f"{'after' if more else 'before'} {{x}}"]
        if english.is_participle(scale.noun.rpartition(" ")[2]):
            shapes = [
                f"{scale.noun} {'after' if more else 'before'} {{x}}",
                f"{scale.noun} {'later' if more else 'earlier'} than {{x}}",
            ]
    comparatives = [form for form in scale.comparatives("desc" if more else "asc") if form]
    shapes += [shape for form in comparatives[:3] for shape in (f"{form} than {{x}}", f"that are {form} than {{x}}")]
    return fill(_one(tuple(shapes), chance), f=scale.noun, x=told.name)


@dataclass(frozen=True)
class ConditionScale:
    """A field as a property with an order: its noun, whether it is a time, and the adjectives of its ends.

    `high` and `low` hold (base form, comparative, superlative) of each adjective; there are none for a field that the
    language's file does not know.
    """

    noun: str
    of_time: bool
    high: tuple[tuple[str, str, str], ...] = ()
    low: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def of(cls, field: str, kind: NodeType) -> ConditionScale:
        """Return the scale of a field of a node type, by the words of its name, its unit and its kind."""
        noun = words(field)
        head, _, last = noun.rpartition(" ")
        unit = UNITS[last].dimension if head and last in UNITS else ""
        noun = head if unit else noun
        dated = any(one.name == field and one.kind == "date" for one in kind.fields)
        said = set(noun.split())
        for scale in language("en").value("scales", default=()):
            names = {word for name in split(scale["names"]) for word in name.split()}
            if said & names or (unit and scale.get("unit") == unit) or (dated and scale.get("unit") == "date"):
                return cls(noun, scale.get("unit") == "date", _adjectives(scale["high"]), _adjectives(scale["low"]))
        return cls(noun, dated)

    def comparatives(self, direction: str) -> list[str]:
        """Return the comparatives of the adjectives at the end that an order in this direction begins with."""
        return [one[1] for one in (self.high if direction == "desc" else self.low)]

    def superlatives(self, direction: str) -> list[str]:
        """Return the superlatives of the adjectives at the end that an order in this direction begins with."""
        return [one[2] for one in (self.high if direction == "desc" else self.low)]


def _adjectives(text: str) -> tuple[tuple[str, str, str], ...]:
    found = []
    for entry in split(text):
        several = forms(entry)
        base = several[0]
        found.append(several[:3] if len(several) > 2 else (base, f"more {base}", f"most {base}"))
    return tuple((one[0], one[1], one[2]) for one in found)


def _one(texts: tuple[str, ...], chance: np.random.Generator) -> str:
    return texts[int(chance.integers(len(texts)))]
