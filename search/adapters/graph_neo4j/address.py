"""Parses `NEO4J_URL`. No message of this module repeats the value, because it may contain a password."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc", "bolt", "bolt+s", "bolt+ssc")
FORM = "NEO4J_URL takes neo4j://user:password@host:port/database"
DEFAULT_DATABASE = "neo4j"
DEFAULT_PORT = 7687


@dataclass(frozen=True, slots=True)
class Address:
    """Address, database and credentials of a Neo4j server; no representation shows the password."""

    uri: str
    user: str
    password: str = field(repr=False)
    database: str = DEFAULT_DATABASE

    @classmethod
    def parse(cls, url: str) -> Address:
        """Return the address given as `neo4j://user:password@host:port/database`.

        User and password may be percent-encoded. The default port is 7687, the default database `neo4j`. Raises
        ValueError with a sentence for people.
        """
        try:
            parts = urlsplit(url)
            port = parts.port or DEFAULT_PORT
        except ValueError:
            raise ValueError(f"{FORM}; the port or the host of the one given cannot be read.") from None
        if parts.scheme not in SCHEMES:
            raise ValueError(f"{FORM}; the one given begins with none of {', '.join(SCHEMES)}.")
        if not parts.hostname:
            raise ValueError(f"{FORM}; the one given names no host.")
        if not parts.username or not parts.password:
            raise ValueError(f"{FORM}; the one given lacks user or password (encode : / @ in them as %3A %2F %40).")
        database = unquote(parts.path.strip("/")) or DEFAULT_DATABASE
        if "/" in database or parts.query or parts.fragment:
            raise ValueError(f"{FORM}; the one given continues after the name of the database.")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return cls(f"{parts.scheme}://{host}:{port}", unquote(parts.username), unquote(parts.password), database)
