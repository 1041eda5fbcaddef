"""A second database session for tests, and a server that does not wait for the disk."""

from typing import Any

import psycopg
from django.db import connection

from grasp_site.embedded.home import DATABASE_USER, Home


def another_session(**options: Any) -> psycopg.Connection[Any]:
    """Return a new connection to the test database, as another process would have."""
    parameters = connection.get_connection_params()
    address = {key: parameters[key] for key in ("dbname", "user", "password", "host", "port") if parameters.get(key)}
    return psycopg.connect(**address, **options)


def hurry(home: Home) -> None:
    """Let a running Postgres never wait until the disk has what it wrote.

    Only a failure of the whole machine could lose it then, not one of a process, and tests have nothing to lose.

    Tests also make databases of their own, which the site's role may not do and which need the extension.
    """
    with psycopg.connect(home.superuser_url.replace("/grasp?", "/template1?"), autocommit=True) as session:
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
        session.execute(f"ALTER ROLE {DATABASE_USER} CREATEDB")
        for setting in ("fsync", "full_page_writes"):
            session.execute(f"ALTER SYSTEM SET {setting} = off")
        session.execute("SELECT pg_reload_conf()")
