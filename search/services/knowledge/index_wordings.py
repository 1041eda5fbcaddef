"""index_wordings: keeps with the index files the vectors of the wordings that planning will most likely compare."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import structlog

from search.domain.errors import SearchError
from search.domain.run_context import RunContext
from search.ingest import wordings
from search.ingest.index import IndexPart, build_parts
from search.ingest.parts import WRITE_WORDINGS
from search.interfaces import Encoder, Vectors
from search.models import Snapshot
from search.neural.site_encoders import encoder as site_encoder
from search.stages.plan.knowledge.ahead import likely_wordings
from search.stages.plan.knowledge.shape import Shape
from search.stages.plan.knowledge.wording import Wording

FEW = 500
"""Most wordings that a search worker encodes for a release while it starts. A base that has no more gets no file."""
KEPT = 16_000
"""Most wordings whose vectors are kept: 24 MB, a minute of one core. They are 99 of 100 that questions of a base of 19
types and 200 kinds of walks of one hop compare; half as many are nine of ten."""
_BATCH = 64
_VERSION = 1

log = structlog.get_logger(__name__)


def index_wordings(snapshot: Snapshot, encoder: Encoder | None, run: RunContext) -> dict[str, float]:
    """Write the vectors of a snapshot's likeliest wordings if they are missing; return folder → seconds it took.

    `encoder` defaults to the site's own. If that cannot be loaded, nothing is written: a search then computes what it
    needs. Raises RunCancelled.
    """
    schema = snapshot.schema
    texts = likely_wordings(Shape(schema), Wording(schema), KEPT)
    if len(texts) <= FEW:
        return {}
    try:
        encoder = encoder or site_encoder()
    except (SearchError, OSError) as error:
        log.warning("wordings not encoded", snapshot=snapshot.pk, reason=str(error))
        return {}
    known = encoder

    def write(folder: Path) -> None:
        wordings.write(folder, texts, _encoded(known, texts, run))

    part = IndexPart(_VERSION, write, title=WRITE_WORDINGS)
    return build_parts(snapshot.directory, {wordings.folder_of(encoder.name): part}, run)


def _encoded(encoder: Encoder, texts: Sequence[str], run: RunContext) -> Vectors:
    """Return the vectors of the texts, encoded in batches, after each of which the run may stop."""
    rows = []
    for first in range(0, len(texts), _BATCH):
        run.check()
        rows.append(encoder.encode(texts[first : first + _BATCH]))
        run.report(WRITE_WORDINGS, min(first + _BATCH, len(texts)), len(texts))
    return np.concatenate(rows)
