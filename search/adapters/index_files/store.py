"""The object store: what is built is sent there, and other machines fetch it. Any place that fsspec can open by a URL.

An object has the name of its file with the hash behind it. So an object of this name and of the file's length needs not
be sent again, and no object is replaced by another content while a machine fetches it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from fsspec.core import url_to_fs

from search.adapters.index_files import source
from search.adapters.index_files.source import BuiltFile, FetchFailed, FileSource, FolderSource, HttpSource

ANSWER_SECONDS = 20.0
"""How long the store has for a piece."""
OWNER = "owner"
"""Name of the object with the mark of the site to which a folder of the store belongs."""


class StoreFailed(FetchFailed):
    """The store could not be read or written; the text is a part of a sentence that says why."""


def configured_source() -> FileSource | None:
    """Return the place that `GRASP_FILES_FROM` or else `GRASP_INDEX_STORE` names, or None."""
    named = str(settings.GRASP_FILES_FROM)
    if not named:
        return configured_store()
    return HttpSource(named) if named.startswith(("http://", "https://")) else FolderSource(Path(named))


def configured_store() -> ObjectStore | None:
    """Return the store that `GRASP_INDEX_STORE` names, or None."""
    return ObjectStore(settings.GRASP_INDEX_STORE) if settings.GRASP_INDEX_STORE else None


def object_name(file: BuiltFile) -> str:
    """Return the name of a file's object."""
    return f"{file.name}.{file.digest}"


class ObjectStore:
    """Objects below a URL, such as `s3://bucket/folder` (Source).

    fsspec reads credentials and the address of the server from the environment. A store is made for each use, because
    its connections do not survive a fork.
    """

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def __str__(self) -> str:
        return self._url

    def piece(self, file: BuiltFile, begin: int) -> bytes:
        """Return a piece of a file, by a request for this range."""
        end = min(begin + source.PIECE, file.length)
        with self._explained(f"does not have {file.name}"):
            system, root = self._opened
            # Their own patience, with all retries, is minutes: longer than a search has.
            limit = {"timeout": ANSWER_SECONDS} if system.async_impl else {}
            return bytes(system.cat_file(f"{root}/{object_name(file)}", start=begin, end=end, **limit))

    def lengths(self, folder: str) -> dict[str, int]:
        """Return object name → length of all objects in a folder and in those below it. Raises StoreFailed."""
        with self._explained("does not exist"):
            system, root = self._opened
            found = system.find(f"{root}/{folder}", detail=True)
            return {path[len(root) + 1 :]: int(about["size"]) for path, about in found.items()}

    def send(self, path: Path, file: BuiltFile) -> None:
        """Send a file; a large one goes in parts, and is there when all have arrived. Raises StoreFailed."""
        with self._explained("does not exist"):
            system, root = self._opened
            system.put_file(str(path), f"{root}/{object_name(file)}")

    def remove(self, names: Collection[str]) -> None:
        """Remove objects. Raises StoreFailed."""
        with self._explained("does not exist"):
            system, root = self._opened
            system.rm([f"{root}/{name}" for name in names])

    def owner(self, site: str) -> str:
        """Return the mark of the site to which the folder belongs; that is `site` if it had no owner.

        Raises StoreFailed.
        """
        with self._explained("does not exist"):
            system, root = self._opened
            path = f"{root}/{OWNER}"
            if not system.exists(path):
                system.pipe_file(path, site.encode())
            return bytes(system.cat_file(path)).decode()

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        # Only a folder of this machine has folders that must be made.
        more = {"auto_mkdir": True} if self._url.startswith("file:") else {}
        system, root = url_to_fs(self._url, use_listings_cache=False, **more)
        return system, str(root).rstrip("/")

    @contextmanager
    def _explained(self, missing: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise StoreFailed(f"{self} {missing}") from error
        except PermissionError as error:
            raise StoreFailed(f"{self} refuses the credentials of this machine") from error
        except TimeoutError as error:
            raise StoreFailed(f"{self} does not answer") from error
        except Exception as error:
            # Each kind of store has errors of its own.
            raise StoreFailed(f"{self} cannot be used ({error})") from error
