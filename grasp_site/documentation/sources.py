"""What the documentation is built from, and where the built pages are kept."""

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from django.conf import settings

from grasp_site.embedded.home import PROJECT

CONFIGURATION = PROJECT / "mkdocs.yml"
FOLDERS = (PROJECT / "docs", PROJECT / "docs-theme")
# Other versions of these make other pages of the same sources.
VERSIONS = PROJECT / "constraints.txt"


def folder() -> Path:
    """Return the folder that holds one folder of built pages for each state of the sources."""
    return Path(settings.GRASP_DOCS)


def built() -> Path:
    """Return the folder of the pages of the present sources; it exists when they have been built."""
    return folder() / fingerprint()


def fingerprint() -> str:
    """Return a hash over the sources' paths and contents; files are read again only after one has changed."""
    return _fingerprint(tuple((str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in _files()))


def _files() -> Iterator[Path]:
    yield CONFIGURATION
    yield VERSIONS
    for root in FOLDERS:
        yield from sorted(path for path in root.rglob("*") if path.is_file())


@lru_cache(maxsize=2)
def _fingerprint(files: tuple[tuple[str, int, int], ...]) -> str:
    """Return the hash over the contents of files, given by path, time of change and size."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        content = Path(path).read_bytes()
        digest.update(f"{Path(path).relative_to(PROJECT)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]
