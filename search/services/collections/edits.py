"""edits: a text that was changed in another window is not overwritten by somebody who has not seen the change."""

from __future__ import annotations

from hashlib import blake2b

from search.domain.errors import Fault, InvalidRequest

BYTES = 8


def text_mark(*texts: str) -> str:
    """Return a mark of texts as somebody sees them; a form sends it back with what was typed."""
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=BYTES).hexdigest()


def check_seen(seen: str, stored: tuple[str, ...], typed: tuple[str, ...]) -> None:
    """Raise InvalidRequest if the stored texts are neither those that were seen nor those that were typed.

    `seen` is the mark of the texts of which the form was made; empty where the caller has none, such as a program.
    """
    if seen and seen != text_mark(*stored) and stored != typed:
        now = " – ".join(text for text in stored if text)
        said = f"It is now: “{now}”." if now else "It is empty now."
        raise InvalidRequest([Fault("/note", f"This was changed in another window meanwhile. {said}")])
