"""The user for Postgres, which refuses to run as root, and the folders that this user can reach."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path

from grasp_site.embedded.faults import EmbeddedError

UNPRIVILEGED_USER = "nobody"


@dataclass(frozen=True)
class ServiceUser:
    """The user under which Postgres runs if this process runs as root."""

    name: str
    uid: int
    gid: int

    def can_enter(self, path: Path) -> bool:
        """Whether the user can read and enter the folder; the system decides, so that every permission counts."""
        probe = subprocess.run(
            ["/bin/sh", "-c", 'cd "$1" && [ -r . ]', "sh", str(path)],
            user=self.uid,
            group=self.gid,
            extra_groups=[],
            cwd="/",
            stderr=subprocess.DEVNULL,
            check=False,
        )
        return probe.returncode == 0

    def own(self, path: Path) -> None:
        """Make the user the owner of one file or folder."""
        os.chown(path, self.uid, self.gid)


def service_user() -> ServiceUser | None:
    """Return the user for Postgres, or None if this process does not run as root."""
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(UNPRIVILEGED_USER)
    except KeyError as error:
        raise EmbeddedError(
            f"Postgres does not run as root, and there is no user {UNPRIVILEGED_USER!r} to run it as. "
            "Start as an ordinary user, or set DATABASE_URL to a Postgres of your own."
        ) from error
    return ServiceUser(entry.pw_name, entry.pw_uid, entry.pw_gid)
