"""Reads settings from the environment; standard library only, because the supervisor uses it before Django is set up.

Every name that is read by these functions is listed in README's table of settings; a test compares the two.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class SettingError(ValueError):
    """An environment variable has an invalid value; the message names the variable and says which values are valid."""


def env_str(name: str, default: str = "") -> str:
    """Return the variable's text without surrounding white space; an empty variable counts as unset."""
    return os.environ.get(name, "").strip() or default


def env_secret(name: str, default: str = "") -> str:
    """Return the variable's text, or the text of the file that `NAME_FILE` names; the variable takes precedence.

    Raises `SettingError` if the file cannot be read.
    """
    value = env_str(name)
    path = env_str(f"{name}_FILE")
    if value or not path:
        return value or default
    try:
        return Path(path).read_text(encoding="utf-8").strip() or default
    except OSError as error:
        raise SettingError(f"{name}_FILE names {path}, which cannot be read ({error.strerror}).") from error


def env_bool(name: str, default: bool) -> bool:
    """Return True for 1, true, yes, on, and False for 0, false, no, off; raise `SettingError` for other values."""
    word = env_str(name).lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    if word:
        raise SettingError(f"{name} is {word!r}; it takes true or false.")
    return default


def env_int(name: str, default: int, minimum: int = 0) -> int:
    """Return an integer of at least `minimum`; raise `SettingError` for other values."""
    text = env_str(name)
    if not text:
        return default
    try:
        number = int(text)
    except ValueError as error:
        raise SettingError(f"{name} is {text!r}; it takes a whole number.") from error
    if number < minimum:
        raise SettingError(f"{name} is {number}; it takes a whole number from {minimum} on.")
    return number


def env_list(name: str, default: list[str]) -> list[str]:
    """Return the values of a comma-separated list without surrounding white space, or `default` if there are none."""
    return [part.strip() for part in env_str(name).split(",") if part.strip()] or default


def env_choice(name: str, choices: tuple[str, ...]) -> str:
    """Return one of `choices` in lower case, the first one by default; raise `SettingError` for any other word."""
    word = env_str(name).lower() or choices[0]
    if word not in choices:
        raise SettingError(f"{name} is {word!r}; it takes {', '.join(choices[:-1])} or {choices[-1]}.")
    return word


def usual_search_processes() -> int:
    """Return the default number of processes that search: one for each core, from two to eight, and for each 2 GB."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min(8, max(2, os.cpu_count() or 2), max(1, memory >> 31))


def usual_web_processes() -> int:
    """Return the default number of web processes: one for three cores, from one to four; workers need the others."""
    return min(4, max(1, (os.cpu_count() or 1) // 3))


def env_read(name: str, read: Callable[[str], T], default: str = "") -> T:
    """Return what `read` makes of the variable's text; raise `SettingError` with the sentence of its ValueError."""
    try:
        return read(env_str(name, default))
    except ValueError as error:
        raise SettingError(f"{name}: {error}.") from None


def read_memory(text: str) -> str:
    """Return an amount of memory as Postgres writes it, such as `1GB`; ValueError for anything else."""
    amount = text.replace(" ", "")
    if re.fullmatch(r"[1-9]\d*(kB|MB|GB|TB)", amount) is None:
        raise ValueError(f"{text!r} is no amount of memory; it takes a whole number and a unit, such as 512MB or 4GB")
    return amount
