"""A second database session for tests."""

from typing import Any

import psycopg
from django.db import connection


def another_session(**options: Any) -> psycopg.Connection[Any]:
    """Return a new connection to the test database, as another process would have."""
    parameters = connection.get_connection_params()
    address = {key: parameters[key] for key in ("dbname", "user", "password", "host", "port") if parameters.get(key)}
    return psycopg.connect(**address, **options)
