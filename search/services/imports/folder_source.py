"""folder_source: the files of a folder, as the source that an import reads; needs neither settings nor a database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from search.ingest.detect import UNSURE, Detected, detect, root_of
from search.ingest.faults import BundleError
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.source import Source, bundle_source

MappingJson = Mapping[str, Any]


class GuessNotAccepted(BundleError):
    """The folder holds plain files, and nobody has confirmed the guessed mapping; `detected` has it."""

    def __init__(self, detected: Detected) -> None:
        self.detected = detected
        super().__init__(
            f"{detected.root} holds plain files ({detected.why}), so a mapping has to say what their columns mean. "
            "One has been guessed; check it and pass it as the mapping."
        )


def folder_source(
    folder: Path, mapping: MappingJson | None = None, *, name: str = "", accept_guess: bool = False
) -> Source:
    """Return the source in a folder: a bundle, or other files with a mapping.

    Without `mapping` a bundle and neo4j-admin's files say themselves what they hold; the guess for other files is used
    with `accept_guess` only. Raises BundleError (GuessNotAccepted), InvalidRequest for a faulty mapping.
    """
    if mapping:
        return mapped_source(root_of(folder), SourceMapping.from_json(dict(mapping)))
    detected = detect(folder, name)
    if detected.kind == "bundle":
        return bundle_source(detected.root)
    if detected.mapping is None:
        told = "; ".join(str(fault) for fault in detected.faults[:5])
        raise BundleError(f"{folder} cannot be imported: {detected.why}. {told}".strip(), detected.faults)
    if detected.kind == "tables" and not accept_guess:
        raise GuessNotAccepted(detected)
    if unsure := [fault for fault in detected.faults if fault.kind == UNSURE]:
        raise BundleError(f"This has to be said in a mapping: {'; '.join(map(str, unsure[:5]))}", unsure)
    return replace(mapped_source(detected.root, detected.mapping), remarks=detected.told)
