"""One real server that speaks S3 for all tests that need one: S3Proxy, which keeps objects as files of a folder."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grasp_site.embedded.jars import JavaServer, java
from tests.guarded import guarded
from tests.neo4j_server import required

PROGRAMS = JavaServer("S3Proxy", Path(__file__).resolve().parent / "s3", megabytes=23)
KEY, SECRET = "key-of-tests", "a-secret-that-no-log-may-have"
START_SECONDS = 60.0


class S3Server:
    """A server that can be killed and started again on the same port and data."""

    def __init__(self, folder: Path) -> None:
        self.objects = folder / "objects"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a process finds the server."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._port}", "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_MAX_ATTEMPTS": "1",
        }  # fmt: skip

    def bucket(self, name: str) -> Path:
        """Make a bucket, and return the folder of its objects."""
        (self.objects / name).mkdir(parents=True, exist_ok=True)
        return self.objects / name

    def start(self) -> None:
        """Start the server and wait until it answers. Raises EmbeddedError if this machine cannot run it."""
        program, jars = java(PROGRAMS.name), PROGRAMS.jars(lambda text: None)
        self.objects.mkdir(parents=True, exist_ok=True)
        settings = {
            "s3proxy.endpoint": self.environment["AWS_ENDPOINT_URL"], "s3proxy.authorization": "aws-v2-or-v4",
            "s3proxy.identity": KEY, "s3proxy.credential": SECRET, "s3proxy.ignore-unknown-headers": "true",
            "jclouds.provider": "filesystem-nio2", "jclouds.filesystem.basedir": str(self.objects),
        }  # fmt: skip
        (self._folder / "s3proxy.conf").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        (self._folder / "logback.xml").write_text('<configuration><root level="OFF"/></configuration>')
        with (self._folder / "log").open("ab") as log:
            self._process = guarded(
                [
                    *(str(program), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                    *(f"-Dlogback.configurationFile={self._folder / 'logback.xml'}", "-cp", f"{jars}/*"),
                    *("org.gaul.s3proxy.Main", "--properties", str(self._folder / "s3proxy.conf")),
                ],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            told = (self._folder / "log").read_text()
            assert self._process.poll() is None, told
            assert time.monotonic() < deadline, told
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server, as a power failure would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0


@contextmanager
def running(folder: Path) -> Iterator[S3Server]:
    """Run a server; without Java or Maven skip the test with a sentence, or fail if servers are required."""
    server = S3Server(folder)
    try:
        with required(PROGRAMS.name):
            server.start()
        yield server
    finally:
        server.kill()
