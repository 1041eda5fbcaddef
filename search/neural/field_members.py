"""The tensors of the members of a retriever of fields, in one file: how they are named, and how they are told apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MEMBER = re.compile(r"member-(\d+)\.")
"""Beginning of the names of tensors of all members but the first, which has none."""


def joined(members: Sequence[Mapping[str, NDArray[np.float16]]]) -> dict[str, NDArray[np.float16]]:
    """Return the tensors of several members in one dictionary, with names that `members_of` takes apart."""
    named = {f"member-{at}.{name}": tensor for at, own in enumerate(members) if at for name, tensor in own.items()}
    return {**members[0], **named}


def members_of(tensors: Mapping[str, NDArray[Any]]) -> list[dict[str, NDArray[Any]]]:
    """Return the tensors of each member. Raises ValueError if a member is missing."""
    found: dict[int, dict[str, NDArray[Any]]] = {0: {}}
    for name, tensor in tensors.items():
        prefix = _MEMBER.match(name)
        own = found.setdefault(int(prefix[1]) if prefix else 0, {})
        own[name[prefix.end() :] if prefix else name] = tensor
    if sorted(found) != list(range(len(found))):
        raise ValueError(f"there are tensors of the members {', '.join(map(str, sorted(found)))}, and one is missing")
    return [found[at] for at in sorted(found)]
