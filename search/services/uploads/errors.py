"""Why a piece of an upload is not taken."""

from __future__ import annotations

from search.domain.errors import SearchError


class UploadTooLarge(SearchError):
    """The file, or all files of the upload, would be larger than the site allows."""


class UploadConflict(SearchError):
    """The piece does not follow what was received, or somebody else sends to the same file at this moment."""


class WrongChecksum(SearchError):
    """A piece was damaged on its way."""


class NoSpace(SearchError):
    """The disk has no room for the upload."""
