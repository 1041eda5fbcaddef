"""index: build what is missing of a knowledge base's newest import, and make its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import JobKind, JobTarget, Needs, argument
from search.domain.run_context import RunContext
from search.domain.vector_kinds import USUAL, checked
from search.ingest.parts import UNITS
from search.ingest.size import Size
from search.models import KnowledgeBase, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.expected import index_needs, index_parts, new_dimensions, snapshot_size
from search.services.knowledge.index_snapshot import IndexFailed, build_index
from search.services.knowledge.releases import activate_once


@dataclass(frozen=True)
class IndexJob(JobKind):
    """Builds or continues the indexes of the newest import (Kind)."""

    units: ClassVar[Mapping[str, str]] = UNITS
    makes: ClassVar[str] = "release"

    kinds: tuple[str, ...] = argument(
        (), "Further kinds of vectors: document, chunk, passage, passage:drops, field:<name> or relation:<name>."
    )
    vectors: bool = argument(
        True, "Encode the texts. Without, the release is ready sooner, and searched by words and by the graph alone."
    )
    activate: bool = argument(False, "Use the release for searches as soon as it is ready.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their shares of the time."""
        return index_parts(Size(nodes=1_000, edges=3_000, characters=300_000), self._kinds)

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes, from the size of the snapshot."""
        snapshot = self._snapshot(target)
        return self.parts() if snapshot is None else index_parts(snapshot_size(snapshot), self._kinds)

    def needs(self, target: JobTarget) -> Needs:
        """Return the disk and the memory, estimated from the size of the snapshot."""
        snapshot = self._snapshot(target)
        return Needs() if snapshot is None else index_needs(snapshot_size(snapshot), new_dimensions(), self._kinds)

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a knowledge base that has nothing to index, and kinds of vectors that do not exist."""
        snapshot = newest_snapshot(target.knowledge_base)
        if snapshot is None:
            message = f"{target.knowledge_base!r} has no imported data; import it first."
            return [Fault("/knowledge_base", message)]
        if self.kinds and not self.vectors:
            return [Fault("/arguments/kinds", "Kinds of vectors can only be added where the texts are encoded.")]
        try:
            checked(self.kinds, snapshot.schema)
        except InvalidRequest as error:
            return [fault.below("/arguments") for fault in error.faults]
        return []

    def freeze(self, target: JobTarget) -> Mapping[str, Any]:
        """Return the snapshot, so that an import in the meantime does not change what is indexed."""
        snapshot = newest_snapshot(target.knowledge_base)
        return {"snapshot": snapshot.pk if snapshot else None}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Build the indexes; return the release and what it took."""
        snapshot = self._snapshot(target)
        if snapshot is None:
            raise IndexFailed(
                f"The imported data {target.frozen['snapshot']} has been deleted since the job was launched."
            )
        indexed = build_index(snapshot=snapshot, run=run, kinds=self.kinds, embed=self.vectors)
        run.check()
        if self.activate:
            activate_once(snapshot.knowledge_base, indexed.release, run)
        return {
            "knowledge_base": target.knowledge_base,
            "snapshot": snapshot.pk,
            "release": indexed.release.name,
            "embedded": indexed.embedded,
            "reused": indexed.reused,
            "seconds": {part: round(seconds, 3) for part, seconds in indexed.seconds.items()},
        }

    @property
    def _kinds(self) -> int:
        """Number of kinds of vectors that each node gets."""
        return len({*USUAL, *self.kinds}) if self.vectors else 0

    def _snapshot(self, target: JobTarget) -> Snapshot | None:
        """Return the snapshot that was chosen at launch; before that, the newest one."""
        if "snapshot" in target.frozen:
            return Snapshot.objects.filter(pk=target.frozen["snapshot"]).select_related("knowledge_base").first()
        return newest_snapshot(target.knowledge_base)


def newest_snapshot(knowledge_base: str) -> Snapshot | None:
    """Return the newest import of a knowledge base that is loaded."""
    base = KnowledgeBase.objects.filter(name=knowledge_base).first()
    return None if base is None else base.snapshots.filter(status=BuildStatus.READY).order_by("-pk").first()
