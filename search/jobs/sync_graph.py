"""sync_graph: copy the active snapshot of a knowledge base into Neo4j."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.conf import settings

from search.domain.errors import Fault
from search.domain.job_kinds import JobKind, JobTarget
from search.domain.run_context import RunContext
from search.ingest.parts import UNITS
from search.models import KnowledgeBase
from search.services.knowledge.expected import base_size, sync_parts
from search.services.knowledge.sync_graph import sync_graph


@dataclass(frozen=True)
class SyncGraphJob(JobKind):
    """Copies the graph of the active release into Neo4j (Kind)."""

    units: ClassVar[Mapping[str, str]] = UNITS
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their shares of the time."""
        return {"Writing nodes": 0.4, "Writing edges": 0.6}

    def expected(self, target: JobTarget) -> Mapping[str, float]:
        """Return the parts with their sizes, from the size of the release."""
        base = KnowledgeBase.objects.filter(name=target.knowledge_base).first()
        return self.parts() if base is None else sync_parts(base_size(base))

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse where there is no Neo4j."""
        if settings.NEO4J_URL:
            return ()
        return [Fault("", "NEO4J_URL is not set, so there is no Neo4j to put the graph into.")]

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Copy the graph; return what was written."""
        return sync_graph(knowledge_base=KnowledgeBase.objects.get(name=target.knowledge_base), run=run).to_json()
