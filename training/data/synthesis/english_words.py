"""The English frames of synthesised questions. `{n}` is a noun phrase in the plural, `{t}` the noun for the answers."""

from __future__ import annotations

import re

_SLOT = re.compile(r"\{(\w+)\}")

FRAMES = (
    "which {n}", "which {n}", "what {n}", "what are the {n}", "which are the {n}", "find {n}", "find the {n}",
    "list {n}", "list all {n}", "show me {n}", "show me all {n}", "give me {n}", "name {n}", "name the {n}",
    "tell me the {n}", "{n}", "{n}", "the {n}", "all {n}", "I am looking for {n}", "I'm looking for {n}",
    "can you find {n}", "could you suggest {n}", "can you tell me about {n}", "are there any {n}", "do you know {n}",
    "please identify {n}", "search for {n}", "I need {n}", "what are {n}", "is there a list of {n}",
)  # fmt: skip
PEOPLE_FRAMES = ("who are the {n}", "who are {n}", "who were the {n}", "who is among the {n}")
"""Frames for answers that are people."""

TEXT_AFTER = ("{n} about {p}", "{n}: {p}", "{n}, {p}", "{n} {p}", "{n} described by {p}", "{n} with {p}")
"""How a list of words is joined to a noun phrase."""
SENTENCE_AFTER = ("{n}: {p}", "{n}, where {p}", "{n}. {p}", "{n} – {p}", "{n} {p}", "{n} for which {p}")
"""How a sentence is joined to a noun phrase."""
TEXT_ALONE = ("{p} {t}", "{t} {p}", "{p}", "{p}", "{p} ({t})", "what {t} is about {p}", "{t}: {p}")
"""Frames of words that describe the answer, without anything else."""
TEXT_GOING_ON = ("which {t} {p}", "what {t} {p}", "what {p}", "find a {t} that {p}", "a {t} that {p}")
"""Frames of a sentence without its subject."""
BARE = ("{p}", "{p}", "which {p}", "what {p}", "what is the {p}", "who {p}", "when {p}", "where {p}", "which one {p}")
"""Frames of questions in the bare words of texts, which ask for an answer of any type."""
BARE_JOINTS = (" ", ", ", " of the ", " in the ", " that ", " and ", " with the ", " for ")
FINITE = frozenset(["is", "was", "are", "were", "has", "had", "have", "can", "may", "does", "did", "will", "must"])
"""First words of a sentence whose subject, the name, was taken out: it goes on after `which {t}` and `that`."""
SHARED_TARGET = ("that share {r} with {o}", "with the same {r} as {o}", "that have the same {r} as {o}",
                 "sharing {r} with {o}")  # fmt: skip
"""Nodes that lead to the same node as another does; `{r}` is a noun for that node."""
SHARED_SOURCE = ("of the same {b} as {o}", "in the same {b} as {o}", "that share {b} with {o}", "{d} {b} with {o}",
                 "co-{d} with {o}", "that co-{d} {b} with {o}", "together with {o}")  # fmt: skip
"""Nodes to which the same node leads as to another; `{b}` is that node's noun, `{d}` what is done in the past tense."""

COMPARED = {
    "=": ("with {f} {v}", "whose {f} is {v}", "with a {f} of {v}"),
    ">": ("with {f} over {v}", "with a {f} above {v}", "whose {f} is more than {v}", "with {f} greater than {v}"),
    ">=": ("with {f} of at least {v}", "with a {f} of {v} or more", "whose {f} is at least {v}"),
    "<": ("with {f} under {v}", "with a {f} below {v}", "whose {f} is less than {v}"),
    "<=": ("with {f} of at most {v}", "with a {f} of {v} or less", "whose {f} is at most {v}"),
    "between": ("with {f} between {v} and {w}", "with a {f} from {v} to {w}"),
}
"""How a number is asked for; `{f}` is the field, `{v}` and `{w}` are values with their unit."""
TIMED = {
    "=": ("{f} in {v}", "from {v}", "of {v}", "with {f} {v}"),
    ">=": ("{f} since {v}", "since {v}", "from {v} on", "with {f} from {v} onwards", "{f} in {v} or later"),
    "<": ("{f} before {v}", "before {v}", "with {f} before {v}", "older than {v}"),
    "between": ("{f} between {v} and {w}", "from {v} to {w}", "{f} from {v} to {w}"),
}
"""How a year is asked for."""
VALUED = ("with {f} {v}", "whose {f} is {v}", "{f} {v}", "with {v} as {f}", "that are {v}")
"""How a keyword is asked for."""


def fill(shape: str, **values: str) -> str:
    """Return a shape with its slots filled; braces inside the values stay as they are."""
    return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), shape)
