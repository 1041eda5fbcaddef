"""GRASP_HOME: where the data of the embedded services lie, and how their sockets are found."""

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
DATABASE_USER = "app"
GIBIBYTE = 1 << 30
LEAST_FREE_BYTES = GIBIBYTE


@dataclass(frozen=True)
class Home:
    """The folder GRASP_HOME names; every path below it has its name here."""

    root: Path

    @classmethod
    def from_environment(cls) -> "Home":
        """GRASP_HOME, taken from the project's folder when relative."""
        return cls(Path(os.path.normpath(PROJECT / env_str("GRASP_HOME", ".grasp"))))

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    def log(self, name: str) -> Path:
        """The log of one child process."""
        return self.logs / f"{name.replace(' ', '-')}.log"

    @property
    def postgres(self) -> Path:
        """The database's folder; a link to elsewhere when its user cannot read below `root`."""
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        return self.root / "valkey"

    @property
    def run(self) -> Path:
        """The folder of the sockets; short enough for a socket's path, so a link to elsewhere when `root` is long."""
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
        """The embedded Valkey's address, as redis-py reads it."""
        return f"unix://{self.valkey_socket}"

    @property
    def database_url(self) -> str:
        """The embedded database's address. Makes the password on first use."""
        password = quote(self.secret("postgres_password"), safe="")
        return f"postgresql://{DATABASE_USER}:{password}@/{DATABASE}?host={quote(str(self.postgres_sockets))}"

    def secret(self, name: str) -> str:
        """A random text kept in `secrets/NAME`, made on first use; of two processes that make it at once, one wins."""
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

    def make_folder(self, name: str, mode: int = 0o755) -> Path:
        """`root/name`, made with `mode` where missing, whatever the umask says."""
        self.make_root()
        path = self.root / name
        if not path.exists():
            path.mkdir(exist_ok=True)
            path.chmod(mode)
        return path

    def make_root(self) -> None:
        """Makes `root` where missing. Raises `EmbeddedError` where that is not allowed."""
        try:
            missing = not self.root.exists()
            self.root.mkdir(parents=True, exist_ok=True)
            if missing:
                self.root.chmod(0o755)
        except OSError as error:
            raise EmbeddedError(
                f"{self.root} cannot be made ({error.strerror}). Set GRASP_HOME to another folder."
            ) from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise EmbeddedError(
                f"{self.root} belongs to another user. Start as that user, or set GRASP_HOME to a folder of your own."
            )

    def make_run(self, enterable: Callable[[Path], bool]) -> None:
        """Makes the folder of the sockets, where all who need it can enter. Call it with `keeper_lock` held."""
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
        """Raises `EmbeddedError` when so little is free that Postgres would soon stop."""
        free = shutil.disk_usage(self.root).free
        if free < LEAST_FREE_BYTES:
            raise EmbeddedError(
                f"The disk of {self.root} is full: {free / GIBIBYTE:.1f} GiB are free and at least "
                f"{LEAST_FREE_BYTES / GIBIBYTE:.0f} GiB are needed. Free some space, or set GRASP_HOME to a folder on "
                "another disk."
            )


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Holds a lock on `path`, and waits for it first."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
