"""export_report: an evaluation as a file: TREC run, qrels, CSV by question, JSON, or a LaTeX table."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from search.domain.errors import Fault, InvalidRequest, nearest
from search.tables import csv_lines
from training.evaluation.cost import TOKENS
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
COST_HEADS = ("Calls", "Tokens", "s", "Price")
"""Headings of the cost of a question in a LaTeX table."""
_COLUMNS = (
    "question", "text", "answers", "split", "answer_type", "pipeline", "state", "rank", *MEASURES, "seconds",
    "model_calls", "cached_model_calls", "prompt_tokens", "cached_tokens", "completion_tokens", "price", "plan_shape",
    "probability", "lost_at", "first_found", "error", "search",
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
    return Export(f"{evaluation.pk}.csv", "text/csv; charset=utf-8", csv_lines(_csv_rows(evaluation)))


def _csv_rows(evaluation: Evaluation) -> Iterator[Sequence[Any]]:
    """Yield the header, then a row for each outcome, with a column for each slice key of the questions."""
    keys = sorted({key for slices in evaluation.asked.values_list("slices", flat=True) for key in slices})
    yield [*_COLUMNS, *keys]
    outcomes = Outcome.objects.filter(evaluation=evaluation).select_related("question")
    # Of a ranking only the first id is read: the lists are most of the table.
    rows = outcomes.defer("ids", "scores", "stages", "lost").annotate(first=F("ids__0"))
    order = {label: at for at, label in enumerate(labels_of(evaluation))}
    for row in sorted(rows, key=lambda one: (one.question.position, order.get(one.pipeline, 0))):
        yield _csv_cells(row, keys)


def _csv_cells(row: Outcome, keys: Iterable[str]) -> list[Any]:
    question = row.question
    first: str | None = getattr(row, "first", None)
    return [
        question.identifier, question.text, "\n".join(question.answers),
        question.split, question.answer_type, row.pipeline, row.state, row.rank,
        *(row.measures.get(name) for name in MEASURES), row.seconds, *_spent(row), row.plan_shape, row.probability,
        row.lost_at, first or "", row.error, row.run,
        *(question.slices.get(key, "") for key in keys),
    ]  # fmt: skip


def _spent(row: Outcome) -> list[Any]:
    """Return calls, answers from storage, tokens by kind and price; the price is empty where it is not known."""
    use: Mapping[str, Any] = row.model_use or {}
    tokens = use.get("tokens", {})
    price = use.get("price") if use.get("currency") else None
    return [use.get("calls", 0), use.get("cached_calls", row.cached_calls), *(tokens.get(kind, 0) for kind in TOKENS),
            "" if price is None else price]  # fmt: skip


def _latex(evaluation: Evaluation, _: str) -> Export:
    report = ordered_report(evaluation) or {}
    return Export(f"{evaluation.pk}.tex", "application/x-tex; charset=utf-8", [latex_table(report)])


def latex_table(report: Mapping[str, Any]) -> str:
    """Return a report as a LaTeX table (package booktabs): a row for each pipeline with its intervals.

    The best value of a measure is bold. A dagger marks values that differ from the best one by the corrected test. The
    last columns are the mean cost of a question, if the report has it; the price only if somebody set prices.
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
    costs = _cost_columns(parts)
    lines = []
    for label, part in parts.items():
        cells = []
        for name in names:
            value, (low, high) = part["metrics"][name], part["intervals"][name]
            shown = rf"\textbf{{{value:.1f}}}" if value == best[name] else f"{value:.1f}"
            marked = r"$^{\dagger}$" if (name, frozenset((label, leaders[name]))) in differ else ""
            cells.append(rf"{shown}{marked} {{\scriptsize [{low:.1f}, {high:.1f}]}}")
        lines.append(f"{latex(label)} & {' & '.join([*cells, *costs.get(label, ())])} \\\\")
    split = f", split {latex(report['split'])}" if report.get("split") else ""
    caption = (
        f"{report['questions']:,} questions about {latex(report['release'])}{split}; in percent, "
        r"with 95\,\% bootstrap intervals. $^{\dagger}$ differs from the best value "
        r"($p < 0.05$, paired randomisation test, Holm)."
    )
    if costs:
        caption += " Calls of language models, their tokens, seconds and price are means over the questions."
    heads = [*map(latex, names), *COST_HEADS[: max(map(len, costs.values()), default=0)]]
    head = " & ".join(["Pipeline", *heads])
    return "\n".join([
        r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{l{'r' * len(heads)}}}", r"\toprule",
        rf"{head} \\", r"\midrule", *lines, r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}",
        r"\end{table}", "",
    ])  # fmt: skip


def _cost_columns(parts: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the cells of the mean cost of a question by label; nothing for reports of earlier versions."""
    costs = {label: part["a_question"] for label, part in parts.items() if "a_question" in part}
    if len(costs) < len(parts):
        return {}
    priced = any(cost["currency"] for cost in costs.values())
    found = {}
    for label, cost in costs.items():
        price = "--" if cost["price"] is None else latex(f"{cost['price']:.5f} {cost['currency']}")
        tokens = cost["tokens"]["prompt"] + cost["tokens"]["completion"]
        found[label] = [
            f"{cost['calls']:.1f}",
            f"{tokens:,.0f}",
            f"{cost['seconds']:.2f}",
            *([price] if priced else ()),
        ]
    return found


def latex(text: str) -> str:
    """Return text with every character escaped that LaTeX takes for a command."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


FORMATS: Mapping[str, Callable[[Evaluation, str], Export]] = {
    "run": _run, "qrels": _qrels, "csv": _csv, "json": _json, "latex": _latex,
}  # fmt: skip
NEED_REPORT = frozenset({"json", "latex"})
