"""receive_whole: an upload from files that came with one form, for browsers without script."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, Any

from search.domain.errors import SearchError
from search.models import Upload
from search.services.access.visitors import User
from search.services.uploads.begin_upload import add_file, begin_upload
from search.services.uploads.discard_upload import discard_upload
from search.services.uploads.receive import receive


def receive_whole(*, user: User, files: Sequence[tuple[str, int, IO[bytes] | Any]]) -> Upload:
    """Make an upload of complete files (name, bytes, content), and return it.

    Raises what `add_file` and `receive` raise; then nothing is kept.
    """
    upload = begin_upload(user=user)
    try:
        for name, size, content in files:
            receive(file=add_file(upload=upload, name=name, file_size=size), offset=0, content=content)
    except SearchError:
        discard_upload(upload)
        raise
    return upload
