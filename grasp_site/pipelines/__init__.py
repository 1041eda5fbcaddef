"""The pipelines of the site: their rows, one file a family of methods, in the order in which pages list them.

A pipeline is a function (BACKEND) that calls stages (STAGES_CLASS). A stage has one backend with options, or several
VARIANTS; an option with the stage's name chooses the variant. A row is the default specification of its pipeline.
TITLES holds the names of its lists on pages. `docs/adding-a-pipeline.md` explains the rows.
"""

from __future__ import annotations

from typing import Any

from grasp_site.pipelines import af, baselines, expansion, grasp, sage

PIPELINES: dict[str, dict[str, Any]] = {
    **grasp.PIPELINES,
    **af.PIPELINES,
    **sage.PIPELINES,
    **expansion.PIPELINES,
    **baselines.PIPELINES,
}
