"""Finds the Cypher text in a model's reply: in a JSON object, in a fenced block, or as it stands."""

from __future__ import annotations

import re

from search.domain.model_reply import LONGEST_REPLY, UnreadableReply, read_object, without_thinking

KEY = "cypher"
"""Key of the text in the JSON object that a model is asked for."""
_FENCED = re.compile(r"```[a-zA-Z]{0,20}\s*\n(.{0,100000}?)```", re.DOTALL)
_BEGINS = re.compile(r"\bmatch\b", re.IGNORECASE)


def cypher_in(reply: str) -> str:
    """Return the query in a reply, or what the reply says instead; thinking and text around a query are left out."""
    try:
        written = read_object(reply).get(KEY)
    except UnreadableReply:
        written = None
    if isinstance(written, str):
        return written.strip()
    text = without_thinking(reply[:LONGEST_REPLY])
    fenced = _FENCED.search(text)
    text = fenced[1] if fenced else text
    begins = _BEGINS.search(text)
    return text[begins.start() if begins else 0 :].strip()
