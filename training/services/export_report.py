"""export_report: an evaluation as a file: TREC run, qrels, CSV by question, JSON, or a LaTeX table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from search.domain.errors import Fault, InvalidRequest, nearest
from search.services.searches.export_results import harmless
from training.evaluation.measures import MEASURES
from training.evaluation.trec import qrels_lines, run_lines
from training.models import Evaluation, Outcome
from training.services.evaluations.build_report import file_name
from training.services.evaluations.describe import labels_of, ordered_report
from training.services.evaluations.rows import read_examples, read_outcomes

SIGNIFICANT = 0.05
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip
_COLUMNS = (
    "question", "text", "answers", "split", "answer_type", "pipeline", "state", "rank", *MEASURES, "seconds",
    "plan_shape", "probability", "lost_at", "first_found", "error", "search",
)  # fmt: skip


@dataclass(frozen=True)
class Export:
    """A file to download: its name, its media type, and its content in parts."""

    name: str
    media_type: str
    content: Iterable[str]


def export_report(evaluation: Evaluation, format: str, pipeline: str = "") -> Export:
    """Return an evaluation in a format of `FORMATS`. `pipeline` chooses the run; empty means the first one.

    Raises InvalidRequest with every fault: an unknown format or pipeline, or a format that needs a report when there is
    none.
    """
    labels = labels_of(evaluation)
    faults = []
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        faults.append(Fault("/format", f"format is one of: {known}; not {format[:80]!r}.", nearest(format, FORMATS)))
    elif format in NEED_REPORT and evaluation.report is None:
        faults.append(Fault("/format", f"This evaluation is {evaluation.status}, so it has no report to download yet."))
    if pipeline and pipeline not in labels:
        message = f"The evaluation has no pipeline {pipeline[:80]!r}; it has: {', '.join(labels)}."
        faults.append(Fault("/pipeline", message, nearest(pipeline, labels)))
    if faults:
        raise InvalidRequest(faults)
    return FORMATS[format](evaluation, pipeline or next(iter(labels), ""))


def _run(evaluation: Evaluation, label: str) -> Export:
    outcomes = read_outcomes(evaluation.pk, label, read_examples(evaluation))
    return Export(f"{file_name(label)}.run", "text/plain; charset=utf-8", run_lines(outcomes, label))


def _qrels(evaluation: Evaluation, _: str) -> Export:
    return Export("qrels", "text/plain; charset=utf-8", qrels_lines(read_examples(evaluation)))


def _json(evaluation: Evaluation, _: str) -> Export:
    text = json.dumps(ordered_report(evaluation), indent=1, ensure_ascii=False) + "\n"
    return Export("report.json", "application/json", [text])


def _csv(evaluation: Evaluation, _: str) -> Export:
    return Export(f"{evaluation.pk}.csv", "text/csv; charset=utf-8", _csv_lines(evaluation))


def _csv_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the header, then a line for each outcome, with a column for each slice key of the questions."""
    keys = sorted({key for slices in evaluation.asked.values_list("slices", flat=True) for key in slices})
    line = io.StringIO()
    writer = csv.writer(line)
    outcomes = Outcome.objects.filter(evaluation=evaluation).select_related("question")
    # Of a ranking only the first id is read: the lists are most of the table.
    rows = outcomes.defer("ids", "scores", "stages", "lost").annotate(first=F("ids__0"))
    order = {label: at for at, label in enumerate(labels_of(evaluation))}
    for row in [None, *sorted(rows, key=lambda one: (one.question.position, order.get(one.pipeline, 0)))]:
        writer.writerow([*_COLUMNS, *map(harmless, keys)] if row is None else _csv_cells(row, keys))
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def _csv_cells(row: Outcome, keys: Iterable[str]) -> list[Any]:
    question = row.question
    first: str | None = getattr(row, "first", None)
    return [
        harmless(question.identifier), harmless(question.text), harmless("\n".join(question.answers)),
        harmless(question.split), harmless(question.answer_type), harmless(row.pipeline), row.state, row.rank,
        *(row.measures.get(name) for name in MEASURES), row.seconds, row.plan_shape, row.probability, row.lost_at,
        harmless(first or ""), harmless(row.error), row.run,
        *(harmless(question.slices.get(key, "")) for key in keys),
    ]  # fmt: skip


def _latex(evaluation: Evaluation, _: str) -> Export:
    report = ordered_report(evaluation) or {}
    return Export(f"{evaluation.pk}.tex", "application/x-tex; charset=utf-8", [latex_table(report)])


def latex_table(report: Mapping[str, Any]) -> str:
    """Return a report as a LaTeX table (package booktabs): a row for each pipeline with its intervals.

    The best value of a measure is bold. A dagger marks values that differ from the best one by the corrected test.
    """
    parts: Mapping[str, Any] = report["pipelines"]
    # Reports of earlier versions have fewer measures.
    names = [name for name in MEASURES if all(name in part["metrics"] for part in parts.values())]
    best = {name: max(part["metrics"][name] for part in parts.values()) for name in names}
    leaders = {name: next(x for x, part in parts.items() if part["metrics"][name] == best[name]) for name in names}
    differ = {
        (one["metric"], frozenset((one["a"], one["b"])))
        for one in report.get("comparisons", ()) if one["p_holm"] < SIGNIFICANT
    }  # fmt: skip
    lines = []
    for label, part in parts.items():
        cells = []
        for name in names:
            value, (low, high) = part["metrics"][name], part["intervals"][name]
            shown = rf"\textbf{{{value:.1f}}}" if value == best[name] else f"{value:.1f}"
            marked = r"$^{\dagger}$" if (name, frozenset((label, leaders[name]))) in differ else ""
            cells.append(rf"{shown}{marked} {{\scriptsize [{low:.1f}, {high:.1f}]}}")
        lines.append(f"{latex(label)} & {' & '.join(cells)} \\\\")
    split = f", split {latex(report['split'])}" if report.get("split") else ""
    caption = (
        f"{report['questions']:,} questions about {latex(report['release'])}{split}; in percent, "
        r"with 95\,\% bootstrap intervals. $^{\dagger}$ differs from the best value "
        r"($p < 0.05$, paired randomisation test, Holm)."
    )
    head = " & ".join(["Pipeline", *map(latex, names)])
    return "\n".join([
        r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{l{'r' * len(names)}}}", r"\toprule",
        rf"{head} \\", r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}",
        r"\end{table}", "",
    ])  # fmt: skip


def latex(text: str) -> str:
    """Return text with every character escaped that LaTeX takes for a command."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


FORMATS: Mapping[str, Callable[[Evaluation, str], Export]] = {
    "run": _run, "qrels": _qrels, "csv": _csv, "json": _json, "latex": _latex,
}  # fmt: skip
NEED_REPORT = frozenset({"json", "latex"})
