"""Servers of Java: a suitable Java, and the jars of a server, which Maven fetches once and whose sums are checked."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import exclusive

JAVAS = (17, 21)
"""The versions of Java that the servers run on."""
INSTALL_JAVA = "On Debian and Ubuntu: apt-get install openjdk-17-jre-headless"
INSTALL_MAVEN = "On Debian and Ubuntu: apt-get install maven"

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class JavaServer:
    """A server that Maven fetches: its name, and the folder with its `pom.xml` and the checksums, `jars.sha256`."""

    name: str
    folder: Path
    megabytes: int

    @property
    def pom(self) -> Path:
        """What Maven is told to fetch."""
        return self.folder / "pom.xml"

    @property
    def sums(self) -> str:
        """The checksums of the jars, as `sha256sum` writes them."""
        return (self.folder / "jars.sha256").read_text(encoding="utf-8")

    @property
    def version(self) -> str:
        """The version in the pom."""
        found = re.search(r"<[a-z0-9]+\.version>([^<]+)<", self.pom.read_text(encoding="utf-8"))
        assert found is not None, f"{self.pom} names no version"
        return found.group(1)

    def jars(self, notice: Notice) -> Path:
        """Return the folder of the jars; missing jars are fetched. Raises `EmbeddedError`."""
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grasp-search"
        short = self.name.lower()
        folder = caches / f"{short}-{self.version}-{hashlib.sha256(self.sums.encode()).hexdigest()[:8]}"
        try:
            caches.mkdir(parents=True, exist_ok=True)
            with exclusive(caches / f"{short}.lock"):
                if not folder.exists():
                    _fetch(self, folder, notice)
                elif fault := mismatch(folder, self.sums):
                    raise EmbeddedError(f"{self.name}: {fault} Remove {folder} to fetch {self.name} anew.")
        except OSError as error:
            raise EmbeddedError(f"{self.name}'s programs cannot be kept in {caches}: {error.strerror}.") from error
        return folder


def java(server: str) -> Path:
    """Return a Java that the server runs on: that of JAVA_HOME, of the path, or another installed one.

    Raises `EmbeddedError` with a sentence that says what to install.
    """
    seen: dict[Path, int | None] = {}
    for candidate in _javas():
        if candidate not in seen:
            seen[candidate] = _major(candidate)
            if seen[candidate] in JAVAS:
                return candidate
    others = sorted({f"Java {major}" for major in seen.values() if major})
    there = f"; there is {', '.join(others)}" if others else ""
    raise EmbeddedError(f"{server} runs on Java {' or '.join(map(str, JAVAS))}{there}. {INSTALL_JAVA}")


def mismatch(folder: Path, sums: str) -> str:
    """Return how the jars of a folder differ from the list of checksums, or an empty string if they do not."""
    expected = {name: digest for digest, name in (line.split(maxsplit=1) for line in sums.splitlines())}
    found = {path.name: path for path in folder.iterdir()}
    if more := sorted(found.keys() - expected.keys()):
        return f"{more[0]} is not among the jars of the server."
    if missing := sorted(expected.keys() - found.keys()):
        return f"{missing[0]} is missing among the jars."
    for name, digest in expected.items():
        with found[name].open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                return f"{name} is damaged or has been changed: its checksum differs from the one in jars.sha256."
    return ""


def _fetch(server: JavaServer, folder: Path, notice: Notice) -> None:
    """Fetch the jars into a temporary folder, check their checksums, and move the folder to its place."""
    maven = shutil.which("mvn")
    if maven is None:
        raise EmbeddedError(f"{server.name} is fetched with Maven, and there is none. {INSTALL_MAVEN}")
    notice(f"fetching {server.name} {server.version} with Maven, {server.megabytes} MB; this is done once")
    with tempfile.TemporaryDirectory(prefix="jars-", dir=folder.parent) as workshop:
        fresh = Path(workshop) / "jars"
        done = subprocess.run(
            [
                *(maven, "--quiet", "--batch-mode", "--strict-checksums", "--file", str(server.pom)),
                *("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"),
            ],
            cwd=workshop,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or not fresh.is_dir():
            raise EmbeddedError(f"Maven could not fetch {server.name}: {_complaint(done.stdout + done.stderr)}")
        if fault := mismatch(fresh, server.sums):
            raise EmbeddedError(f"The files that Maven fetched are not used: {fault}")
        fresh.rename(folder)


def _complaint(output: str) -> str:
    """Return the first error that Maven reports."""
    lines = [line for line in re.sub(r"\x1b\[[0-9;]*m", "", output).splitlines() if line.strip()]
    errors = [line.removeprefix("[ERROR]").strip() for line in lines if line.startswith("[ERROR]")]
    return (errors or lines or ["it gave no reason"])[0]


def _javas() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield Path(found).resolve()
    yield from sorted(Path("/usr/lib/jvm").glob("*/bin/java"))


def _major(program: Path) -> int | None:
    """Return the first number of a Java's version, or None if it cannot be run."""
    try:
        done = subprocess.run([str(program), "-version"], capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(\d+)', done.stderr + done.stdout)
    return int(found.group(1)) if found else None
