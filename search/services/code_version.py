"""code_version: the version of the code that made a run or a report."""

from __future__ import annotations

import subprocess
from functools import lru_cache
from pathlib import Path

from search import __version__


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version, followed by the commit if the code runs from a checkout."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return __version__
    asked = ["git", "-c", f"safe.directory={root}", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
    try:
        commit = subprocess.run(asked, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return __version__
    return f"{__version__}+{commit}"
