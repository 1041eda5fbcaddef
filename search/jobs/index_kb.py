"""index: build what is missing of a knowledge base's newest snapshot, and make its release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.errors import Fault, InvalidRequest
from search.domain.job_kinds import Kind, Target, argument
from search.domain.run_context import RunContext
from search.domain.vector_kinds import checked
from search.models import KnowledgeBase, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.index_snapshot import IndexFailed, build_index
from search.services.knowledge.releases import activate_release


@dataclass(frozen=True)
class IndexJob(Kind):
    """Builds or continues the indexes of the newest snapshot (Kind)."""

    kinds: tuple[str, ...] = argument((), "Further kinds of vectors: document, chunk, field:<name> or relation:<name>.")
    activate: bool = argument(False, "Use the release for searches as soon as it is ready.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their shares of the time."""
        return {"files": 1.0, "vectors": 8.0, "index of the vectors": 1.0}

    def refuse(self, target: Target) -> Sequence[Fault]:
        """Refuse a knowledge base that has nothing to index, and kinds of vectors that do not exist."""
        snapshot = newest_snapshot(target.knowledge_base)
        if snapshot is None:
            message = f"{target.knowledge_base!r} has no snapshot that is loaded; import it first."
            return [Fault("/knowledge_base", message)]
        try:
            checked(self.kinds, snapshot.schema)
        except InvalidRequest as error:
            return [Fault(f"/arguments{fault.pointer}", fault.message, fault.nearest) for fault in error.faults]
        return []

    def freeze(self, target: Target) -> Mapping[str, Any]:
        """Return the snapshot, so that an import in the meantime does not change what is indexed."""
        snapshot = newest_snapshot(target.knowledge_base)
        return {"snapshot": snapshot.pk if snapshot else None}

    def run(self, target: Target, run: RunContext) -> dict[str, Any]:
        """Build the indexes; return the release and what it took."""
        snapshot = Snapshot.objects.filter(pk=target.frozen["snapshot"]).select_related("knowledge_base").first()
        if snapshot is None:
            raise IndexFailed(f"The snapshot {target.frozen['snapshot']} has been deleted since the job was launched.")
        indexed = build_index(snapshot=snapshot, progress=run.progress, kinds=self.kinds)
        run.check()
        if self.activate:
            with run.fenced():
                activate_release(knowledge_base=snapshot.knowledge_base, release=indexed.release)
        return {
            "knowledge_base": target.knowledge_base,
            "snapshot": snapshot.pk,
            "release": indexed.release.name,
            "embedded": indexed.embedded,
            "reused": indexed.reused,
            "seconds": {part: round(seconds, 3) for part, seconds in indexed.seconds.items()},
        }


def newest_snapshot(knowledge_base: str) -> Snapshot | None:
    """Return the newest snapshot of a knowledge base that is loaded."""
    base = KnowledgeBase.objects.filter(name=knowledge_base).first()
    return None if base is None else base.snapshots.filter(status=BuildStatus.READY).order_by("-pk").first()
