"""Converts `DATABASE_URL` and `REDIS_URL` into the forms that Django, Celery and redis-py expect."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from grasp_site.environment import SettingError

POSTGRES_SCHEMES = frozenset({"postgres", "postgresql"})
BROKER_SCHEMES = frozenset({"redis", "rediss", "valkey", "unix", "redis+socket"})


def database_settings(url: str) -> dict[str, Any]:
    """Return the entry of Django's `DATABASES` for one database.

    `url` is `postgresql://user:password@host:port/name`, or `postgresql://user:password@/name?host=/folder` for a
    socket. Further query parameters become connection options (such as `sslmode`). Raises `SettingError` for any other
    form.
    """
    parts = urlsplit(url)
    name = unquote(parts.path.lstrip("/"))
    if parts.scheme not in POSTGRES_SCHEMES or not name:
        raise SettingError("DATABASE_URL takes postgresql://user:password@host:port/name.")
    options = dict(parse_qsl(parts.query))
    host = options.pop("host", None) or unquote(parts.hostname or "")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }


def celery_url(url: str) -> str:
    """Return the broker's address in Celery's form; the form of a Unix socket is `redis+socket:///path`.

    Raises `SettingError` for an unknown scheme.
    """
    scheme, rest = _split(url)
    return f"redis+socket:{rest}" if scheme in {"unix", "redis+socket"} else f"{_plain(scheme)}:{rest}"


def client_url(url: str) -> str:
    """Return the broker's address in redis-py's form; the form of a Unix socket is `unix:///path`.

    Raises `SettingError` for an unknown scheme.
    """
    scheme, rest = _split(url)
    return f"unix:{rest}" if scheme in {"unix", "redis+socket"} else f"{_plain(scheme)}:{rest}"


def read_store(url: str) -> str:
    """Return the URL of an object store, or an empty text. Raises ValueError, without the text: it may be a secret."""
    parts = urlsplit(url)
    if url and not (parts.scheme and parts.netloc + parts.path):
        raise ValueError("takes a URL such as s3://bucket/folder")
    if parts.username or parts.password:
        raise ValueError("takes a URL without user and password; the variables of the store's library hold them")
    return url


def _plain(scheme: str) -> str:
    return "redis" if scheme == "valkey" else scheme


def _split(url: str) -> tuple[str, str]:
    scheme, colon, rest = url.partition(":")
    if not colon or scheme not in BROKER_SCHEMES:
        raise SettingError("REDIS_URL takes redis://host:port/number, rediss://… or unix:///path/to/socket.")
    return scheme, rest
