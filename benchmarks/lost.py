"""Where answers were lost: how often the named stage is the broken one, and how long it takes on movies."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.test import override_settings

from benchmarks.bases import imported
from benchmarks.common import percentiles, show, table
from search import wiring
from search.models import KnowledgeBase
from search.neural.site_encoders import encoder as encoders
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.pin_searches import pin_searches
from tests.training.broken.oracle import BREAKS, Verdict, confusion, missing_edges, verdicts
from tests.training.broken.stages import pipelines
from tests.training.broken.world import NAME, World
from training.data.examples import read_examples
from training.evaluation.lost import Funnel, LostStage
from training.services.attribution import attribute
from training.services.evaluations.choose_pins import search_pinned

LOST = 90
"""Lost answers of each broken stage at least."""
QUESTIONS = 1_500


def main() -> None:
    """Print the confusion table of the broken stages, then seconds and the funnel on movies."""
    against_the_oracle()
    on_movies()


def against_the_oracle() -> None:
    """Print which stage is named for answers that a stage lost which was broken on purpose."""
    encoder = {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": 32}}
    tools = {**settings.GRASP_TOOLS, "encoder": encoder}
    with override_settings(GRASP_TOOLS=tools, GRASP_PIPELINES=pipelines(settings.GRASP_PIPELINES)):
        wiring.forget()
        encoders.cache_clear()
        _remove()
        world = World.of()
        with tempfile.TemporaryDirectory(prefix="grasp-broken-") as folder:
            import_snapshot(source=world.bundle(Path(folder) / "bundle"))
        asked = world.questions()
        found = [verdict for one in BREAKS for verdict in verdicts(one, asked, LOST)]
        found += missing_edges(world, asked, 2 * LOST)
        _remove()
    wiring.forget()
    encoders.cache_clear()
    right = sum(one.named is one.stage for one in found)
    _confusion(found, f"{right:,} of {len(found):,} lost answers ({100 * right / len(found):.2f}%)")
    for one in [one for one in found if one.named is not one.stage][:20]:
        show(f"{one.what}: {one.named} instead of {one.stage}: {one.question}: {one.why}")


def _confusion(found: Sequence[Verdict], title: str) -> None:
    rows = []
    for what, row in confusion(found).items():
        name, _, stage = what.partition(" → ")
        others = ", ".join(f"{named} {number}" for named, number in row.items() if named != stage)
        rows.append((name, stage, sum(row.values()), row.get(stage, 0), others))
    table(title, ("broken", "lost at", "lost answers", "named so", "named otherwise"), rows)


def _remove() -> None:
    for base in KnowledgeBase.objects.filter(name=NAME):
        delete_knowledge_base(knowledge_base=base)


def on_movies() -> None:
    """Print seconds and the stages that lost answers, over val questions of movies with the untrained planner."""
    name, folder = imported("movies")
    examples = read_examples(folder / "questions.jsonl.gz", "val", QUESTIONS)
    pin = pin_searches(knowledge_base=name, pipelines=["grasp"], settings={"plan.artifact": ""})["grasp"]
    search_pinned(pin, examples[0])
    funnel, searching, lost = Funnel(), 0.0, []
    whole = 0.0
    for example in examples:
        began = time.perf_counter()
        run = search_pinned(pin, example)
        searched = time.perf_counter()
        attribution = attribute(run, example.answers)
        ended = time.perf_counter()
        funnel.add(attribution)
        searching, whole = searching + searched - began, whole + ended - searched
        lost += [ended - searched] if attribution.lost or attribution.not_first else []
    p50, p95 = percentiles(lost)
    rows = [("searches, s", searching), ("attribution, s", whole), ("questions with losses", len(lost)),
            ("p50 of these, ms", p50), ("p95 of these, ms", p95)]  # fmt: skip
    table(f"Attribution on movies, val, {len(examples)} questions, untrained planner", ("", ""), rows)
    answers = {entry["stage"]: entry["lost"] for entry in funnel.to_json()["stages"]}
    stages = [(stage.heading, funnel.questions[stage], answers.get(stage, 0)) for stage in LostStage]
    table(f"Lost at; {funnel.expected:,} expected answers", ("stage", "no answer first", "answers not in the top 20"),
          [row for row in stages if row[1] or row[2]])  # fmt: skip
