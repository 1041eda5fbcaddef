"""A second session on the tests' database."""

from typing import Any

import psycopg
from django.db import connection


def another_session(**options: Any) -> psycopg.Connection[Any]:
    """Connect to the database of the tests as another process would."""
    parameters = connection.get_connection_params()
    address = {key: parameters[key] for key in ("dbname", "user", "password", "host", "port") if parameters.get(key)}
    return psycopg.connect(**address, **options)
