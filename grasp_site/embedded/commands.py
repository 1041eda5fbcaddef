"""What a command of `manage.py` needs before it starts."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from grasp_site.embedded.home import Home, exclusive
from grasp_site.embedded.lease import acquire
from grasp_site.environment import env_secret

# Commands that touch neither database nor broker.
STANDALONE = frozenset(
    {
        *("help", "version", "check", "makemigrations", "collectstatic", "findstatic", "diffsettings", "spectacular"),
        *("makemessages", "compilemessages", "startapp", "startproject", "sendtestemail", "testserver", "test"),
    }
)
# Commands that deal with migrations themselves.
MIGRATING = frozenset({"migrate", "showmigrations", "sqlmigrate", "squashmigrations", "optimizemigration"})
HELP_FLAGS = frozenset({"-h", "--help", "--version"})


def missing_services() -> list[str]:
    """The embedded services that no address in the environment replaces."""
    replaceable = {"postgres": env_secret("DATABASE_URL"), "valkey": env_secret("REDIS_URL")}
    return [name for name, address in replaceable.items() if not address]


def needs_services(arguments: Sequence[str]) -> bool:
    """Whether `manage.py ARGUMENTS` reaches for the database or the broker."""
    if not arguments or HELP_FLAGS.intersection(arguments):
        return False
    if arguments[0] == "check" and any(argument.split("=")[0] == "--database" for argument in arguments):
        return True
    return arguments[0] not in STANDALONE and not arguments[0].startswith("-")


@contextmanager
def services_for(arguments: Sequence[str]) -> Iterator[None]:
    """Holds a lease on the embedded services while the command runs, and brings an embedded database up to date first.

    A database that `DATABASE_URL` names is left as it is: its owner says when it is migrated.
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
    """Applies the migrations that are missing. Of several processes at once, one does it and the others wait."""
    # Delayed on purpose: the settings read where the services are, which is known only now.
    import django
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    with exclusive(home.root / "migrate.lock"):
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            call_command("migrate", interactive=False, verbosity=0)
