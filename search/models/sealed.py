"""Secrets in rows: stored encrypted under a key derived from SECRET_KEY, and masked in memory."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.utils.encoding import force_bytes

MASK = "***"


class Secret:
    """A secret in memory. Only `reveal` returns its text: `str`, `repr`, f-strings and pickles are masked."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the secret itself, for the code that sends it."""
        return self._text

    def cut_from(self, text: str) -> str:
        """Return a text in which every occurrence of the secret is masked."""
        return text.replace(self._text, MASK) if len(self._text) >= 4 else text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __str__(self) -> str:
        return MASK if self._text else ""

    __repr__ = __str__

    def __reduce__(self) -> tuple[type[Secret], tuple[str]]:
        return Secret, (str(self),)


class Unsealable(Exception):
    """The stored secret was encrypted under another SECRET_KEY, or is damaged."""


def seal(secret: Secret) -> str:
    """Return a secret encrypted as a row stores it; an empty secret stays empty."""
    return _fernet().encrypt(secret.reveal().encode()).decode("ascii") if secret else ""


def unseal(sealed: str) -> Secret:
    """Return the secret that `seal` encrypted. Raises Unsealable if SECRET_KEY has changed."""
    if not sealed:
        return Secret()
    try:
        return Secret(_fernet().decrypt(sealed.encode("utf-8")).decode("utf-8"))
    except InvalidToken:
        raise Unsealable("SECRET_KEY has changed since the key was stored; enter the key again.") from None


def _fernet() -> MultiFernet:
    """Return the cipher: SECRET_KEY encrypts, and the keys of SECRET_KEY_FALLBACKS still decrypt."""
    keys: list[str | bytes] = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    derived = (hashlib.blake2b(force_bytes(key), digest_size=32, person=b"grasp-sealed").digest() for key in keys)
    return MultiFernet([Fernet(base64.urlsafe_b64encode(key)) for key in derived])
