"""Builds the documentation: `python -m grasp_site.documentation.build`, or `manage.py build_docs`."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from grasp_site.documentation.policy import directives
from grasp_site.documentation.sources import CONFIGURATION, built, folder
from grasp_site.embedded.home import PROJECT

KEPT = 2
"""Numbers of built states that stay: processes of the version before may still serve theirs."""
POLICY = "policy.json"
FAILURE = "failure.txt"
NICENESS = 10


class BuildError(Exception):
    """The documentation cannot be built; the text says why."""


def build() -> Path:
    """Build the pages of the present sources if they are not there, and return their folder. Raises BuildError.

    Processes that build at the same time wait for each other. A folder of pages appears complete or not at all.
    """
    root = folder()
    if not root.exists():
        root.mkdir(parents=True, exist_ok=True)
        root.chmod(0o755)
    with _alone(root):
        target = built()
        if target.is_dir():
            return target
        (root / FAILURE).unlink(missing_ok=True)
        part = Path(mkdtemp(prefix=".building-", dir=root))
        try:
            _run_mkdocs(part)
            (part / POLICY).write_text(json.dumps(directives(part)), encoding="utf-8")
            # The pages are for everybody: an image of a container has them from another account.
            (part / POLICY).chmod(0o644)
            part.chmod(0o755)
            part.rename(target)
        except BuildError as error:
            (root / FAILURE).write_text(f"{target.name}\n{error}", encoding="utf-8")
            raise
        finally:
            shutil.rmtree(part, ignore_errors=True)
        _delete_old(root)
        return target


def building(root: Path) -> bool:
    """Return whether a process builds at this moment."""
    try:
        with (root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def failure() -> str:
    """Return why the last build of the present sources failed; empty if it did not."""
    path = folder() / FAILURE
    name, _, reason = path.read_text(encoding="utf-8").partition("\n") if path.exists() else ("", "", "")
    return reason if name == built().name else ""


def start_building() -> None:
    """Start a process that builds, and return at once; it ends by itself, also when this process has ended."""
    subprocess.Popen(
        [sys.executable, "-m", "grasp_site.documentation.build"],
        cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _run_mkdocs(target: Path) -> None:
    """Let MkDocs write the pages into `target`. Raises BuildError with the lines that it wrote."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    done = subprocess.run(
        [*command, "--config-file", str(CONFIGURATION), "--site-dir", str(target)],
        cwd=PROJECT, capture_output=True, text=True, check=False, umask=0o022,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"},
    )  # fmt: skip
    if done.returncode:
        raise BuildError((done.stderr or done.stdout).strip() or f"MkDocs ended with exit {done.returncode}.")


def _delete_old(root: Path) -> None:
    """Delete the folders of all states but the newest ones."""
    states = sorted((path for path in root.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
    for path in states[:-KEPT]:
        shutil.rmtree(path, ignore_errors=True)


def main() -> int:
    """Build beside a running site, which has the processor first."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    os.nice(NICENESS)
    try:
        build()
    except BuildError as error:
        sys.stderr.write(f"The documentation could not be built:\n{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
