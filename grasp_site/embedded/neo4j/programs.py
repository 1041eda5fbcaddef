"""The programs of Neo4j: a suitable Java, and Neo4j's jars, which Maven fetches once and whose sums are checked."""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import exclusive

HERE = Path(__file__).resolve().parent
POM = HERE / "pom.xml"
SUMS = HERE / "jars.sha256"
JAVAS = (17, 21)
"""The versions of Java that Neo4j 5.26 runs on."""
INSTALL_JAVA = "On Debian and Ubuntu: apt-get install openjdk-17-jre-headless"
INSTALL_MAVEN = "On Debian and Ubuntu: apt-get install maven"

Notice = Callable[[str], None]


def version() -> str:
    """Return the version of Neo4j in the pom."""
    found = re.search(r"<neo4j\.version>([^<]+)<", POM.read_text(encoding="utf-8"))
    assert found is not None, "pom.xml names no version"
    return found.group(1)


def java() -> Path:
    """Return a Java that Neo4j runs on: that of JAVA_HOME, of the path, or another installed one.

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
    raise EmbeddedError(f"Neo4j runs on Java {' or '.join(map(str, JAVAS))}{there}. {INSTALL_JAVA}")


def jars(notice: Notice) -> Path:
    """Return the folder of the jars; missing jars are fetched. Raises `EmbeddedError`."""
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "grasp-search"
    sums = SUMS.read_bytes()
    folder = caches / f"neo4j-{version()}-{hashlib.sha256(sums).hexdigest()[:8]}"
    try:
        caches.mkdir(parents=True, exist_ok=True)
        with exclusive(caches / "neo4j.lock"):
            if not folder.exists():
                _fetch(folder, notice)
            elif fault := mismatch(folder, sums.decode()):
                raise EmbeddedError(f"{fault} Remove {folder} to fetch Neo4j anew.")
    except OSError as error:
        raise EmbeddedError(f"Neo4j's programs cannot be kept in {caches}: {error.strerror}.") from error
    return folder


def mismatch(folder: Path, sums: str) -> str:
    """Return how the jars of a folder differ from the list of checksums, or an empty string if they do not."""
    expected = {name: digest for digest, name in (line.split(maxsplit=1) for line in sums.splitlines())}
    found = {path.name: path for path in folder.iterdir()}
    if more := sorted(found.keys() - expected.keys()):
        return f"{more[0]} is not among the jars that Neo4j is made of."
    if missing := sorted(expected.keys() - found.keys()):
        return f"{missing[0]} is missing among Neo4j's jars."
    for name, digest in expected.items():
        with found[name].open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                return f"{name} is damaged or has been changed: its checksum differs from the one in jars.sha256."
    return ""


def _fetch(folder: Path, notice: Notice) -> None:
    """Fetch the jars into a temporary folder, check their checksums, and move the folder to its place."""
    maven = shutil.which("mvn")
    if maven is None:
        raise EmbeddedError(f"Neo4j is fetched with Maven, and there is none. {INSTALL_MAVEN}")
    notice(f"fetching Neo4j {version()} with Maven, 125 MB; this is done once")
    with tempfile.TemporaryDirectory(prefix="neo4j-", dir=folder.parent) as workshop:
        fresh = Path(workshop) / "jars"
        done = subprocess.run(
            [
                *(maven, "--quiet", "--batch-mode", "--strict-checksums", "--file", str(POM)),
                *("dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={fresh}"),
            ],
            cwd=workshop,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or not fresh.is_dir():
            raise EmbeddedError(f"Maven could not fetch Neo4j: {_complaint(done.stdout + done.stderr)}")
        if fault := mismatch(fresh, SUMS.read_text(encoding="utf-8")):
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
