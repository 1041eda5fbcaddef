"""The names of all settings, read from `docker/env.example`, and sentences about names that are none.

A setting with a wrong name has no effect, and nothing else would say so.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "docker" / "env.example"
"""A file with every setting; a test compares it with `docs/settings.md` and with what the code reads."""
OWN = "GRASP_"
"""Beginning of names that belong to this project alone."""
_LINE = re.compile(r"^#?(?P<name>[A-Z][A-Z0-9_]*)=", flags=re.MULTILINE)
# Names of two characters' difference, such as DATABSE_URL, but not SECRET_NAME for SECRET_KEY.
_SAME = 0.88
_SIMILAR = 0.6
# Set by this project's own tests and by its CI.
_OF_TESTS = frozenset({"GRASP_REQUIRE_SERVERS"})


def names_of(text: str) -> frozenset[str]:
    """Return the names of a file of settings in the form of `.env`; commented settings count too."""
    return frozenset(match["name"] for match in _LINE.finditer(text))


def known_names() -> frozenset[str]:
    """Return the names of all settings; none where the example was not installed with the site."""
    try:
        return names_of(EXAMPLE.read_text(encoding="utf-8"))
    except OSError:
        return frozenset()


def wrong_names(names: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return wrong name → sentence that says so and names the nearest right one.

    A name is wrong if it begins with `GRASP_` and is no setting, or if it differs from a setting by a slip of the pen.
    Other names belong to other programs.
    """
    settings = frozenset(known)
    if not settings:
        return {}
    found = {}
    for name in sorted({*names} - settings - _OF_TESTS):
        close = get_close_matches(name, settings, n=1, cutoff=_SIMILAR if name.startswith(OWN) else _SAME)
        if close:
            found[name] = f"{name} is not a setting, so it has no effect; the nearest setting is {close[0]}."
        elif name.startswith(OWN):
            found[name] = f"{name} is not a setting, so it has no effect; docker/env.example lists all settings."
    return found
