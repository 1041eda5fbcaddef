"""create_token USERNAME: make an API token and print it, once."""

from __future__ import annotations

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import InterfaceError, OperationalError

from search.services.access.tokens import make_token


class Command(BaseCommand):
    """Exit 0 made, 1 failed, 2 no such account."""

    help = "Makes an API token for an account and prints it. It is kept as a hash: nobody can print it again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the arguments."""
        parser.add_argument("username")
        parser.add_argument("--name", default="", help="what it is for, shown in the admin")
        parser.add_argument(
            "--days", type=int, default=None, help="days that it works, 0 for ever; otherwise GRASP_TOKEN_DAYS"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make it, and print it."""
        try:
            user = User.objects.filter(username=options["username"], is_active=True).first()
            if user is None:
                raise CommandError(f"There is no active account {options['username']!r}.", returncode=2)
            row, text = make_token(user, options["name"], options["days"])
        except ValidationError as error:
            raise CommandError(" ".join(error.messages), returncode=2) from error
        except (OperationalError, InterfaceError) as error:
            raise CommandError("Postgres does not answer; try again once it runs.") from error
        if options["json"]:
            expires = row.expires.isoformat() if row.expires else None
            told = {"token": text, "username": user.username, "name": row.name, "expires": expires}
            self.stdout.write(json.dumps(told))
        else:
            self.stdout.write(text)
            until = f"until {row.expires:%Y-%m-%d %H:%M} UTC" if row.expires else "until it is revoked"
            self.stderr.write(f"It works {until}.")
