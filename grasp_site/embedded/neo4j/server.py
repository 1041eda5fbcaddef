"""The Neo4j server of one GRASP_HOME: its configuration, its start, its password."""

import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import neo4j
from neo4j.exceptions import AuthError, Neo4jError

from grasp_site.embedded.children import Program, last_line
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.jars import JavaServer, Notice, java
from grasp_site.embedded.programs import HOST

PROGRAMS = JavaServer("Neo4j", Path(__file__).resolve().parent, megabytes=125)
USER = "neo4j"
FIRST_PASSWORD = "neo4j"
DATABASE = "neo4j"
STARTED = "Started."


@dataclass(frozen=True)
class MemorySize:
    """Memory of the server (Java's heap and the page cache), and further options of Java."""

    heap: str = "1g"
    pages: str = "512m"
    java_options: tuple[str, ...] = ("-XX:+UseG1GC",)


class EmbeddedNeo4j:
    """The graph database of one GRASP_HOME, on a port of this machine."""

    name = "neo4j"

    def __init__(self, home: Home, port: int, size: MemorySize | None = None, notice: Notice = print) -> None:
        self._home = home
        self._port = port
        self._size = size or MemorySize()
        self._notice = notice

    @property
    def folder(self) -> Path:
        return self._home.root / "neo4j"

    @property
    def log(self) -> Path:
        """The server's own log of its latest start."""
        return self.folder / "logs" / "neo4j.log"

    @property
    def url(self) -> str:
        """The value for NEO4J_URL."""
        return f"neo4j://{USER}:{quote(self._password, safe='')}@{HOST}:{self._port}/{DATABASE}"

    @property
    def _password(self) -> str:
        return self._home.secret("neo4j_password")

    @property
    def _address(self) -> str:
        return f"bolt://{HOST}:{self._port}"

    def prepare(self) -> Program:
        """Fetch missing programs, write the configuration, and return the program to start. Raises `EmbeddedError`."""
        program, jars = java(PROGRAMS.name), PROGRAMS.jars(self._notice)
        self._home.make_folder(self.folder.name, mode=0o700)
        configuration = self.folder / "conf"
        for folder in (configuration, self.log.parent):
            folder.mkdir(exist_ok=True)
        (configuration / "neo4j.conf").write_text(self._configuration(), encoding="utf-8")
        self.log.unlink(missing_ok=True)
        packages = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
        return Program(
            name=self.name,
            command=[
                *(str(program), f"-Xms{self._size.heap}", f"-Xmx{self._size.heap}", "-XX:+ExitOnOutOfMemoryError"),
                *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in packages),
                *self._size.java_options,
                *("-Dfile.encoding=UTF-8", "-cp", f"{jars}/*", "org.neo4j.server.CommunityEntryPoint"),
                *(f"--home-dir={self.folder}", f"--config-dir={configuration}"),
            ],
            stop_signals=(signal.SIGTERM,),
            patience=30.0,
        )

    def has_started(self, process: subprocess.Popen[bytes]) -> bool:
        """Whether the server accepts connections. Raises `EmbeddedError` if it has ended instead."""
        if self.log.exists() and STARTED in self.log.read_text(encoding="utf-8", errors="replace"):
            return True
        if process.poll() is not None:
            complaint = last_line(self.log) or last_line(self._home.log(self.name)) or "it wrote no log."
            raise EmbeddedError(f"Neo4j does not start: {complaint} Its logs are in {self.log.parent}.")
        return False

    def set_password(self) -> None:
        """Replace the initial password of a new server by our own. Raises `EmbeddedError`."""
        try:
            with neo4j.GraphDatabase.driver(self._address, auth=(USER, self._password)) as driver:
                driver.verify_connectivity()
                return
        except AuthError:
            pass
        try:
            with neo4j.GraphDatabase.driver(self._address, auth=(USER, FIRST_PASSWORD)) as driver:
                driver.execute_query(
                    "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
                    {"old": FIRST_PASSWORD, "new": self._password},
                    database_="system",
                )
        except Neo4jError as error:
            raise EmbeddedError(
                f"The Neo4j in {self.folder} has an unknown password. Move that folder away to start anew."
            ) from error

    def _configuration(self) -> str:
        address = f"{HOST}:{self._port}"
        settings = {
            "server.default_listen_address": HOST,
            "server.bolt.listen_address": address,
            "server.bolt.advertised_address": address,
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "dbms.usage_report.enabled": "false",
            "server.memory.heap.initial_size": self._size.heap,
            "server.memory.heap.max_size": self._size.heap,
            "server.memory.pagecache.size": self._size.pages,
            # Queries are stopped when their time is over; by default Neo4j checks only every two seconds.
            "db.transaction.monitor.check.interval": "100ms",
            "db.tx_log.rotation.retention_policy": "2 files",
        }
        return "".join(f"{name}={value}\n" for name, value in settings.items())


def free_port() -> int:
    """Return a port of this machine that no program uses."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port
