"""Provides the services that a command of `manage.py` needs before it starts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from grasp_site.embedded.home import Home, exclusive
from grasp_site.embedded.lease import acquire
from grasp_site.environment import env_secret

# Commands that use neither database nor broker.
STANDALONE = frozenset(
    {
        *("help", "version", "check", "makemigrations", "collectstatic", "findstatic", "diffsettings", "spectacular"),
        *("makemessages", "compilemessages", "startapp", "startproject", "sendtestemail", "testserver", "test"),
        *("build_docs", "document_settings"),
    }
)
# Commands that handle migrations themselves.
MIGRATING = frozenset({"migrate", "showmigrations", "sqlmigrate", "squashmigrations", "optimizemigration"})
HELP_FLAGS = frozenset({"-h", "--help", "--version"})


def missing_services() -> list[str]:
    """Return the names of the embedded services that no address in the environment replaces."""
    replaceable = {"postgres": env_secret("DATABASE_URL"), "valkey": env_secret("REDIS_URL")}
    return [name for name, address in replaceable.items() if not address]


def needs_services(arguments: Sequence[str]) -> bool:
    """Whether `manage.py ARGUMENTS` uses the database or the broker."""
    if not arguments or HELP_FLAGS.intersection(arguments):
        return False
    if arguments[0] == "check" and any(argument.split("=")[0] == "--database" for argument in arguments):
        return True
    return arguments[0] not in STANDALONE and not arguments[0].startswith("-")


@contextmanager
def services_for(arguments: Sequence[str]) -> Iterator[None]:
    """Hold a lease on the embedded services while the command runs, and first migrate an embedded database.

    A database named by `DATABASE_URL` is not migrated: its owner decides when.
    """
    services = missing_services() if needs_services(arguments) else []
    if not services:
        yield
        return
    home = Home.from_environment()
    lease = acquire(home, services)
    try:
        if "postgres" in services and arguments[0] not in MIGRATING:
            migrate(home)
        yield
    finally:
        lease.close()


def migrate(home: Home) -> None:
    """Apply the missing migrations. If several processes call this at once, one does it and the others wait."""
    # Imported here because the settings read the services' addresses, which are known only now.
    import django
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    with exclusive(home.root / "migrate.lock"):
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
