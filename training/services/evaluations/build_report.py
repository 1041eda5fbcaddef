"""build_report: the report of an evaluation from its rows, and the files that the command writes."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from search.services.searches.pin import Pin
from training.data.examples import Example
from training.evaluation.comparisons import comparisons
from training.evaluation.lost import Attribution, Funnel
from training.evaluation.measures import MEASURES, Values
from training.evaluation.report import describe_pipeline
from training.evaluation.runner import QuestionOutcome
from training.evaluation.trec import qrels_lines, run_lines
from training.models import Evaluation, Outcome
from training.services.evaluations.rows import read_examples, read_outcomes
from training.services.learned_from import learned_from
from training.services.list_titles import list_titles
from training.services.question_sets import described_set

REPORT, QRELS = "report.json", "qrels"
UNKNOWN_SHOWN = 20
A_CHUNK = 200
"""Attributions that are in memory at a time."""
_UNSAFE = re.compile(r"[^\w.@=,+-]+")


def build_report(evaluation: Evaluation, pins: Mapping[str, Pin]) -> dict[str, Any]:
    """Return the report of an evaluation whose questions are all asked. `pins` are its own, by label.

    It depends on the rows alone. So it can be built again after more is known of the outcomes, such as `lost_at`.
    """
    examples = read_examples(evaluation)
    asked = list(evaluation.asked.values_list("identifier", "answer_type", "unknown"))
    unknown = [answer for _, _, answers in asked for answer in answers]
    report: dict[str, Any] = {
        "evaluation": str(evaluation.id),
        "knowledge_base": evaluation.knowledge_base.name,
        "release": evaluation.release_name,
        "settings_version": evaluation.settings_version,
        "question_set": described_set(evaluation.question_set),
        "split": evaluation.split or None,
        "questions": len(examples),
        "unknown_answers": {"answers": len(unknown), "first": unknown[:UNKNOWN_SHOWN]},
        "code_version": evaluation.code_version,
        "code_versions": evaluation.options.get("code_versions", [evaluation.code_version]),
        "seed": evaluation.seed,
        "asked_at_once": evaluation.options.get("asked_at_once"),
        "left_out": evaluation.options.get("left_out", {}),
        "pipelines": {},
    }
    types = {name: answer_type for name, answer_type, _ in asked}
    values: dict[str, Values] = {}
    for label, pin in pins.items():
        outcomes = read_outcomes(evaluation.id, label, examples)
        values[label] = read_values(evaluation, label)
        described = describe_pipeline(
            examples, outcomes, pin.specification, values=values[label], answer_types=types, seed=evaluation.seed
        )
        learned = learned_from(pin, examples) | {"cross_fitted": evaluation.options.get("crossed", {}).get(label, 0)}
        report["pipelines"][label] = described | _used(pin) | learned | {
            "repeated": evaluation.options.get("repeated", {}).get(label),
            "run_hash": run_hash(outcomes, label),
            "funnel": read_funnel(evaluation, label, pin.pipeline),
        }  # fmt: skip
    report["comparisons"] = comparisons(values, evaluation.seed)
    return report


def read_values(evaluation: Evaluation, label: str) -> Values:
    """Return the stored measures of a specification in percent, in the order of the questions."""
    rows = Outcome.objects.filter(evaluation=evaluation, pipeline=label).order_by("question__position")
    stored = list(rows.values_list("measures", flat=True))
    return {name: np.array([one[name] for one in stored], dtype=np.float64) for name in MEASURES}


def read_funnel(evaluation: Evaluation, label: str, pipeline: str) -> dict[str, Any] | None:
    """Return where the answers were lost, summed over the questions; None if that was not asked for.

    Each list of the pipeline has its title for people beside its name.
    """
    if not evaluation.options.get("attribute"):
        return None
    funnel = Funnel()
    rows = Outcome.objects.filter(evaluation=evaluation, pipeline=label).order_by("question__position")
    for answers, lost in rows.values_list("question__answers", "lost").iterator(chunk_size=A_CHUNK):
        if lost is None:
            funnel.add_found(len(set(answers)))
        else:
            funnel.add(Attribution.from_json(lost))
    told = funnel.to_json()
    titles = list_titles(pipeline, [one["name"] for one in told["lists"]])
    return told | {"lists": [one | {"title": titles[one["name"]]} for one in told["lists"]]}


def run_hash(outcomes: Mapping[str, QuestionOutcome], label: str) -> str:
    """Return BLAKE2b-128 of the TREC run file in hexadecimal, to compare the files of two evaluations."""
    content = hashlib.blake2b(digest_size=16)
    for line in run_lines(outcomes, label):
        content.update(line.encode())
    return content.hexdigest()


def write_files(evaluation: Evaluation, report: Mapping[str, Any], output: Path) -> None:
    """Write `qrels`, `<label>.run` for each specification, and `report.json` last. Raises OSError."""
    examples = read_examples(evaluation)
    output.mkdir(parents=True, exist_ok=True)
    (output / QRELS).write_text("".join(qrels_lines(examples)), encoding="utf-8")
    for label in report["pipelines"]:
        lines = run_lines(read_outcomes(evaluation.id, label, examples), label)
        (output / f"{file_name(label)}.run").write_text("".join(lines), encoding="utf-8")
    text = json.dumps(report, indent=1, ensure_ascii=False) + "\n"
    (output / REPORT).write_text(text, encoding="utf-8")


def file_name(label: str) -> str:
    """Return a label as the name of a file: everything but letters, digits and `.@=,+-` becomes `_`."""
    return _UNSAFE.sub("_", label)


def lines_of(place: int, outcome: QuestionOutcome, examples: Sequence[Example], label: str) -> str:
    """Return the lines that the run file has for one question."""
    return "".join(run_lines({examples[place].id: outcome}, label))


def _used(pin: Pin) -> dict[str, Any]:
    """Return the version and the specification's hash that every search used; `mixed` has checked this."""
    told = pin.to_json()
    return {"pipeline": told["pipeline"], "version": told["version"],
            "specification_hash": told["specification_hash"]}  # fmt: skip
