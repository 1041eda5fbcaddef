"""Why an edge has no node at one of its ends, as a sentence that says what to mend."""

from __future__ import annotations

from collections.abc import Mapping

SEPARATORS = (";", "|", ",")


NO_NODE = "no_such_node"
"""Kind of the fault of an edge that has no node at one of its ends."""


def no_node(what: str, id_: str, ids: Mapping[str, int], left_out: Mapping[str, str], column: str = "") -> str:
    """Return the sentence for the end `what` (`source` or `target`) of an edge whose node is not among `ids`.

    `left_out` holds the ids of nodes whose rows were bad, with the places of those rows. `column` held the id.
    """
    if id_ in left_out:
        where = f"Column '{column}': the {what}" if column else f"The {what}"
        return f"{where} {id_[:100]!r} was left out: {left_out[id_]} is bad. Mended there, this is good."
    sentence = f"There is no entity {id_[:100]!r} for the {what}"
    sentence = f"Column '{column}': there is no entity {id_[:100]!r}" if column else sentence
    for separator in SEPARATORS:
        parts = [part.strip() for part in id_.split(separator)]
        if len(parts) > 1 and all(part in ids for part in parts):
            return f"{sentence}, but one for each part between {separator!r}: separate them as the other cells do."
    return f"{sentence}."
