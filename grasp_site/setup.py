"""Prepares the site before its first page: tables, roles, an administrator, the demo. Runs at every start.

Lines on stdout are for the person at the terminal; everything else is written to stderr, which goes to a log.
"""

import os
import secrets
import sys

import django
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command, get_commands
from django.db import DatabaseError

from grasp_site import site_role
from grasp_site.embedded.commands import migrate
from grasp_site.embedded.home import Home
from grasp_site.environment import env_bool, env_int, env_secret
from grasp_site.setting_names import OWN, known_names, wrong_names

ADMIN = "admin"
DEMO_COMMAND = "load_demo"
DEMO_MARK = "demo-loaded"


def tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def all_names_are_right() -> bool:
    """Tell about variables of the environment that are no settings; return False if one is ours and has no effect."""
    wrong = wrong_names(os.environ, known_names())
    for sentence in wrong.values():
        tell(sentence)
    return not any(name.startswith(OWN) for name in wrong)


def make_admin() -> None:
    """Create the first administrator; its password is shown only if it was generated here."""
    users = get_user_model()._default_manager
    if users.filter(is_superuser=True).exists():
        return
    given = env_secret("GRASP_ADMIN_PASSWORD")
    password = given or secrets.token_urlsafe(12)
    users.create_superuser(ADMIN, password=password)
    told = "the password of GRASP_ADMIN_PASSWORD" if given else f"password {password} (shown this once)"
    tell(f"administration: http://127.0.0.1:{env_int('PORT', 8000)}/admin/, user {ADMIN}, {told}")


def make_groups() -> None:
    """Make the groups of the roles. The import needs the tables' models, which Django has loaded by now."""
    from search.services.access.roles import make_roles

    make_roles()


def load_demo(home: Home) -> None:
    """Load the demo knowledge bases once; if they are deleted later, they are not loaded again."""
    mark = home.root / DEMO_MARK
    if not env_bool("GRASP_DEMO", True) or mark.exists() or DEMO_COMMAND not in get_commands():
        return
    tell("loading the demo knowledge bases")
    try:
        call_command(DEMO_COMMAND, stdout=sys.stderr, stderr=sys.stderr)
    except CommandError as error:
        tell(f"the demo knowledge bases could not be loaded, the next start tries again: {error}")
        return
    mark.touch()


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    if not all_names_are_right():
        return 1
    home = Home.from_environment()
    home.close()
    if env_secret("DATABASE_SUPERUSER_URL") and site_role.main():
        return 1
    django.setup()
    try:
        migrate(home)
        make_groups()
        make_admin()
    except DatabaseError as error:
        tell(f"the database cannot be used: {str(error).strip().splitlines()[0]}")
        return 1
    load_demo(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
