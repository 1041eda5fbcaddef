"""Why an edge has no node at one of its ends, as a sentence that says what to mend."""

from __future__ import annotations

from collections.abc import Mapping

SEPARATORS = (";", "|", ",")


def no_node(what: str, id_: str, ids: Mapping[str, int], left_out: Mapping[str, str]) -> str:
    """Return the sentence for the end `what` (`source` or `target`) of an edge whose node is not among `ids`.

    `left_out` holds the ids of nodes whose rows were bad, with the places of those rows.
    """
    if id_ in left_out:
        return f"The {what} {id_[:100]!r} was left out: {left_out[id_]} is bad. Mended there, this is good."
    sentence = f"There is no node {id_[:100]!r} for the {what}"
    for separator in SEPARATORS:
        parts = [part.strip() for part in id_.split(separator)]
        if len(parts) > 1 and all(part in ids for part in parts):
            return f"{sentence}, but one for each part between {separator!r}: separate them as the other cells do."
    return f"{sentence}."
