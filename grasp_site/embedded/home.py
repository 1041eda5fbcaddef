"""GRASP_HOME: the folder with the data of the embedded services, and the paths of their sockets."""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.environment import env_str

PROJECT = Path(__file__).resolve().parents[2]
SOCKET_PATH_LIMIT = 107
LONGEST_SOCKET_NAME = "/postgres/.s.PGSQL.5432"
DATABASE = "grasp"
DATABASE_USER = "grasp"
SUPERUSER = "app"
"""The role that `initdb` makes. In homes of earlier versions it is the owner of the tables, too."""
GIBIBYTE = 1 << 30
LEAST_FREE_BYTES = GIBIBYTE


@dataclass(frozen=True)
class Home:
    """The folder of GRASP_HOME; every path in it is named here."""

    root: Path

    @classmethod
    def from_environment(cls) -> "Home":
        """Return the home of GRASP_HOME; a relative path starts at the project's folder."""
        return cls(Path(os.path.normpath(PROJECT / env_str("GRASP_HOME", ".grasp"))))

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def log(self, name: str) -> Path:
        """Return the path of a child process's log."""
        return self.logs / f"{name.replace(' ', '-')}.log"

    @property
    def postgres(self) -> Path:
        """The database's folder; a link to another place if Postgres' user cannot read in `root`."""
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        return self.root / "valkey"

    @property
    def run(self) -> Path:
        """The folder of the sockets; if `root` is too long for a socket's path, this is a link to another place."""
        return Path(os.path.realpath(self.root / "run"))

    @property
    def keeper_socket(self) -> Path:
        return self.run / "keeper.sock"

    @property
    def keeper_lock(self) -> Path:
        return self.root / "keeper.lock"

    @property
    def supervisor_lock(self) -> Path:
        return self.root / "supervisor.lock"

    @property
    def postgres_sockets(self) -> Path:
        return self.run / "postgres"

    @property
    def valkey_socket(self) -> Path:
        return self.run / "valkey.sock"

    @property
    def redis_url(self) -> str:
        """The embedded Valkey's address in redis-py's form."""
        return f"unix://{self.valkey_socket}"

    @property
    def database_url(self) -> str:
        """The embedded database's address for the site, whose role is its owner; the password is generated once."""
        return self._database_url(DATABASE_USER, "database_password")

    @property
    def superuser_url(self) -> str:
        """The same database for the superuser, which only the start of the server needs (`grasp_site.site_role`)."""
        return self._database_url(SUPERUSER, "postgres_password")

    def _database_url(self, user: str, secret: str) -> str:
        password = quote(self.secret(secret), safe="")
        return f"postgresql://{user}:{password}@/{DATABASE}?host={quote(str(self.postgres_sockets))}"

    def secret(self, name: str) -> str:
        """Return the random text in `secrets/NAME`, which is generated on first use.

        If two processes generate it at the same time, both return the same text.
        """
        folder = self.make_folder("secrets", mode=0o700)
        path = folder / name
        if not path.exists():
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                file.write(secrets.token_urlsafe(48))
            try:
                os.link(file.name, path)
            except FileExistsError:
                pass
            finally:
                Path(file.name).unlink()
        return path.read_text(encoding="utf-8")

    def make_folder(self, name: str, mode: int = 0o700) -> Path:
        """Return `root/name`, with `mode` whatever the umask is; it is created if it is missing."""
        self.make_root()
        path = self.root / name
        if not path.exists():
            path.mkdir(exist_ok=True)
        if not path.is_symlink() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)
        return path

    def make_root(self) -> None:
        """Create `root` if it is missing. Raises `EmbeddedError` if that is not permitted."""
        try:
            for folder in reversed([self.root, *self.root.parents]):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    # The user that Postgres runs as has to get through.
                    folder.chmod(0o711 if folder == self.root else 0o755)
        except OSError as error:
            raise EmbeddedError(
                f"{self.root} cannot be created ({error.strerror}). Set GRASP_HOME to another folder."
            ) from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise EmbeddedError(
                f"{self.root} belongs to another user. Start as that user, or set GRASP_HOME to a folder of your own."
            )

    def close(self) -> None:
        """Take the permissions of other accounts from what earlier versions have left open to them.

        The database and the sockets stay as they are: they may belong to another user, and are closed further down.
        """
        if self.root.is_dir():
            for path in self.root.iterdir():
                if path.name not in (self.postgres.name, "run") and not path.is_symlink():
                    _close(path)

    def make_run(self, enterable: Callable[[Path], bool]) -> None:
        """Create the folder of the sockets where every process that needs it can enter; `keeper_lock` must be held."""
        self.make_root()
        link = self.root / "run"
        if link.is_symlink() and not link.exists():
            link.unlink()
        if not link.exists():
            link.mkdir()
            link.chmod(0o755)
        if not link.is_symlink() and (
            len(str(link)) + len(LONGEST_SOCKET_NAME) > SOCKET_PATH_LIMIT or not enterable(link)
        ):
            shutil.rmtree(link)
            link.symlink_to(tempfile.mkdtemp(prefix="grasp-"))
        self.run.chmod(0o755)

    def check_disk(self) -> None:
        """Raise `EmbeddedError` if the free disk space is too small for Postgres."""
        free = shutil.disk_usage(self.root).free
        if free < LEAST_FREE_BYTES:
            raise EmbeddedError(
                f"The disk of {self.root} is full: {free / GIBIBYTE:.1f} GiB are free and at least "
                f"{LEAST_FREE_BYTES / GIBIBYTE:.0f} GiB are needed. Free some space, or set GRASP_HOME to a folder on "
                "another disk."
            )


def closed_to_others() -> None:
    """Let this process make files and folders that no other account can read or write, unless it says otherwise."""
    os.umask(0o077)


def _close(path: Path) -> None:
    """Close a file, or a folder with everything in it that is open; a closed folder hides the rest."""
    if not path.stat().st_mode & 0o077:
        return
    for folder, folders, files in os.walk(path) if path.is_dir() else ():
        for name in (*folders, *files):
            inner = Path(folder, name)
            if not inner.is_symlink():
                inner.chmod(inner.stat().st_mode & ~0o077)
    path.chmod(path.stat().st_mode & ~0o077)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Wait for a lock on `path` and hold it."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
