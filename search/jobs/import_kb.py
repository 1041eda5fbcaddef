"""import: load a bundle into a new snapshot, index it, and make it a release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from search.domain.errors import Fault
from search.domain.job_kinds import Kind, Needs, Target, argument
from search.domain.run_context import RunContext
from search.ingest.faults import BundleError
from search.ingest.manifest import BASE_NAME, NAME_RULE, read_manifest
from search.ingest.size import bundle_size
from search.services.knowledge.expected import import_needs, import_parts, new_dimensions
from search.services.knowledge.import_snapshot import import_snapshot


@dataclass(frozen=True)
class ImportJob(Kind):
    """Imports the bundle in a folder of this machine (Kind)."""

    targets: ClassVar[tuple[str, ...]] = ()
    makes: ClassVar[str] = "release"
    source: str = argument("", "Folder of the bundle: kb.json, nodes.* and edges.*, on this machine.", required=True)
    name: str = argument("", "Name of the knowledge base; empty: the one in kb.json.")
    tolerance: int = argument(0, "Most bad rows that are left out without failing.", low=0, high=1_000_000_000)
    index: bool = argument(True, "Build the indexes and make a release.")
    activate: bool = argument(True, "Use the release for searches as soon as it is ready.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their expected seconds, from the size of the bundle."""
        return import_parts(bundle_size(Path(self.source)), index=self.index)

    def refuse(self, target: Target) -> Sequence[Fault]:
        """Refuse a folder that is no bundle, and a name that cannot be one."""
        faults = []
        if self.name and not BASE_NAME.fullmatch(self.name):
            message = f"'{self.name[:80]}' is not a valid name for a knowledge base: {NAME_RULE}."
            faults.append(Fault("/arguments/name", message))
        source = Path(self.source)
        if not source.is_absolute() or not source.is_dir():
            message = f"{self.source[:300]} is not a folder of this machine; give its absolute path."
            faults.append(Fault("/arguments/source", message))
        else:
            try:
                read_manifest(source)
            except (BundleError, OSError) as error:
                faults.append(Fault("/arguments/source", str(error)))
        return faults

    def needs(self, target: Target) -> Needs:
        """Return the disk and the memory, estimated from the size of the bundle."""
        return import_needs(bundle_size(Path(self.source)), new_dimensions(), index=self.index)

    def run(self, target: Target, run: RunContext) -> dict[str, Any]:
        """Import the bundle; return the report."""
        report = import_snapshot(
            source=Path(self.source), name=self.name or None, tolerance=self.tolerance, index=self.index,
            activate=self.activate, run=run,
        )  # fmt: skip
        return report.to_json()
