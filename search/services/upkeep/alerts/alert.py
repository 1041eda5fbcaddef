"""The type of an alert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["now", "soon"]
"""`now`: something does not work, or will not within hours. `soon`: something will harm if it stays."""


@dataclass(frozen=True, slots=True)
class Alert:
    """One thing to do. `about` names its kind, `title` says what is wrong, `todo` says what to do.

    `knowledge_base` is the name of the one that it is about, if it names one: others than those who may see that one
    are not told. `link` is the address of the page to do it on, with `link_text`, and `command` a command; both may be
    empty.
    """

    about: str
    level: Level
    title: str
    todo: str
    link: str = ""
    link_text: str = ""
    command: str = ""
    knowledge_base: str = ""
