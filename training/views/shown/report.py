"""A report as its page shows it: measures with intervals and marks, where answers were lost, latency, slices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.differences import MISSING
from search.language.reader import value_words
from search.services.pipelines.differing_settings import Differing
from training.evaluation.judged import JUDGED_MEASURES
from training.evaluation.lost import LostStage
from training.evaluation.measures import MEASURES
from training.views.shown.honesty import Bin, bins_of, sureness

SIGNIFICANT = 0.05
"""A difference with a corrected p value below this is marked."""
WIDE = 1000
"""Width of the drawings in their own units."""
MOST_SLICES_SHOWN = 12
"""Most values of a slice key that the page shows; the largest ones."""
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of one pipeline: value and interval in percent, and whether it is the best of its column.

    `mark` says how it differs from the first pipeline: `↑` or `↓` if the difference is significant, else empty.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    best: bool
    mark: str

    @property
    def line(self) -> tuple[float, float, float]:
        """Return begin and width of the interval, and the place of the value, in a drawing of `WIDE` units."""
        low, high = (self.value if self.low is None else self.low), (self.value if self.high is None else self.high)
        return WIDE * low / 100, max(1.0, WIDE * (high - low) / 100), WIDE * self.value / 100


@dataclass(frozen=True, slots=True)
class Left:
    """The expected answers that are left after a stage, with the number that it lost, and its bar of `WIDE` units.

    The first one of a funnel has the title "Expected", the last one stands for the top of the results.
    """

    title: str
    lost: int
    left: int
    percent: float
    width: float


@dataclass(frozen=True, slots=True)
class Segment:
    """One part of a stacked bar: name, heading, explanation, count, and its place in a drawing of `WIDE` units."""

    name: str
    heading: str
    title: str
    count: float
    percent: float
    x: float
    width: float
    tone: int


@dataclass(frozen=True)
class PipelineShown:
    """One pipeline of a report."""

    label: str
    figures: tuple[Figure, ...]
    answered: int
    empty: int
    errors: int
    seen: int | None
    cached_calls: int
    p50: float | None
    p95: float | None
    stages: tuple[tuple[str, float], ...]
    lost: tuple[Segment, ...]
    funnel: tuple[Left, ...]
    lists: tuple[Json, ...]
    examined: Json
    calibration_error: float | None
    bins: tuple[Bin, ...]
    calibrated: int
    sureness: str
    wrong: int
    specification_hash: str
    run_hash: str
    repeated: str
    cost: Json | None = None
    """The mean cost of a question; None in reports of earlier versions."""
    version: Any = ""
    specification: Json = field(default_factory=dict)


@dataclass(frozen=True)
class JudgedShown:
    """How much of a pipeline's results was judged, over `questions` with `judgements`, and bpref."""

    label: str
    figures: tuple[Figure, ...]
    questions: int
    judgements: int


@dataclass(frozen=True)
class SliceShown:
    """One value of a slice key: the number of its questions, and each pipeline's label, H@1 in percent and interval."""

    value: str
    questions: int
    figures: tuple[tuple[str, float | None, Sequence[float]], ...]
    best: float


def measures_of(report: Json) -> list[str]:
    """Return the measures that every pipeline of a report has; reports of earlier versions have fewer."""
    return [name for name in MEASURES if all(name in part["metrics"] for part in report["pipelines"].values())]


def pipelines_of(report: Json) -> list[PipelineShown]:
    """Return the pipelines of a report, in its order."""
    parts: Json = report["pipelines"]
    names = measures_of(report)
    best = {name: max(part["metrics"][name] for part in parts.values()) for name in names}
    first = next(iter(parts), "")
    return [
        PipelineShown(
            label=label,
            figures=tuple(_figure(name, label, part, best[name], first, report) for name in names),
            answered=part["answered"], empty=part["empty"], errors=part["errors"],
            seen=part.get("seen_in_training"), cached_calls=part.get("cached_model_calls", 0),
            p50=part["latency_ms"]["p50"], p95=part["latency_ms"]["p95"],
            stages=tuple((role, one["p50"]) for role, one in part["latency_ms"]["stages"].items()),
            lost=tuple(segments(part.get("lost_at") or {}, report["questions"])),
            funnel=tuple(funnel_of(part.get("funnel") or {})),
            lists=tuple((part.get("funnel") or {}).get("lists", ())),
            examined=(part.get("funnel") or {}).get("examined", {}),
            calibration_error=(part.get("calibration") or {}).get("error"),
            bins=tuple(bins_of((part.get("calibration") or {}).get("bins", ()))),
            calibrated=sum(one["questions"] for one in (part.get("calibration") or {}).get("bins", ())),
            sureness=sureness(part.get("sure")), wrong=(part.get("sure") or {}).get("wrong", 0),
            specification_hash=part.get("specification_hash", ""), run_hash=part.get("run_hash", ""),
            repeated=repeated(part.get("repeated")), cost=part.get("a_question"), version=part.get("version"),
            specification=part.get("specification", {}),
        )
        for label, part in parts.items()
    ]  # fmt: skip


def judged_of(report: Json) -> list[JudgedShown]:
    """Return what was judged of each pipeline's results; nothing where no question has judgements."""
    shown = []
    for label, part in report["pipelines"].items():
        if told := part.get("judged"):
            figures = []
            for name in JUDGED_MEASURES:
                low, high = told["intervals"][name]
                figures.append(Figure(name, told["metrics"][name], low, high, False, ""))
            shown.append(JudgedShown(label, tuple(figures), told["questions"], told["judgements"]))
    return shown


def _figure(name: str, label: str, part: Json, best: float, first: str, report: Json) -> Figure:
    low, high = part.get("intervals", {}).get(name, (None, None))
    value = part["metrics"][name]
    return Figure(name, value, low, high, value == best and len(report["pipelines"]) > 1,
                  _mark(name, label, first, report.get("comparisons", ())))  # fmt: skip


def _mark(metric: str, label: str, first: str, comparisons: Sequence[Json]) -> str:
    """Return `↑` or `↓` if a pipeline differs significantly from the first one, else an empty string."""
    for one in comparisons:
        if one["metric"] == metric and {one["a"], one["b"]} == {label, first} and one["p_holm"] < SIGNIFICANT:
            gain = one["difference"] if one["a"] == label else -one["difference"]
            return "↑" if gain > 0 else "↓"
    return ""


def segments(lost_at: Mapping[str, int], questions: int) -> Iterator[Segment]:
    """Yield the parts of the bar of a pipeline's questions: those that it answers first, then those lost, by stage."""
    counts = {stage: lost_at.get(stage.value, 0) for stage in LostStage}
    missed = sum(counts.values())
    if not lost_at or not questions:
        return
    right = questions - missed
    x = WIDE * right / questions
    heading = "Right in the first place"
    yield Segment("first", heading, heading, right, 100 * right / questions, 0.0, x, 0)
    for tone, (stage, count) in enumerate(counts.items(), 1):
        if count:
            width = WIDE * count / questions
            yield Segment(stage.value, stage.heading, f"{stage.heading}: {stage.sentence}", count,
                          100 * count / questions, round(x, 2), round(width, 2), tone)  # fmt: skip
            x += width


def funnel_of(funnel: Json) -> Iterator[Left]:
    """Yield the expected answers of a pipeline and those that are left after each stage that lost one."""
    expected = funnel.get("expected", 0)
    if not expected:
        return
    steps = [("Expected", 0, expected), *((one["title"], one["lost"], one["left"]) for one in funnel["stages"])]
    for title, lost, left in steps:
        yield Left(title, lost, left, 100 * left / expected, round(WIDE * left / expected, 2))


def repeated(told: Json | None) -> str:
    """Return a sentence about the sample that was asked again."""
    if not told or not told["questions"]:
        return "No question was asked again."
    asked, same = told["questions"], told["same"]
    if asked == same:
        return f"{asked} questions were asked again and gave the same results to the byte."
    return f"{asked} questions were asked again; {asked - same} of them gave other results."


def slices_of(report: Json) -> list[tuple[str, list[SliceShown], int]]:
    """Return for each slice key its largest values with H@1 of every pipeline, and how many values are left out."""
    parts: list[Json] = list(report["pipelines"].values())
    shown = []
    keys = dict.fromkeys(key for part in parts for key in part["slices"])
    for key in keys:
        counts: dict[str, int] = {}
        for part in parts:
            for value, one in part["slices"].get(key, {}).items():
                counts[value] = max(counts.get(value, 0), one["questions"])
        rows = []
        for value, questions in sorted(counts.items(), key=lambda item: -item[1])[:MOST_SLICES_SHOWN]:
            of_each = tuple(
                (label, one.get("metrics", {}).get("H@1"), one.get("intervals", {}).get("H@1", ()))
                for label, part in report["pipelines"].items()
                for one in [part["slices"].get(key, {}).get(value, {})]
            )
            known = [figure for _, figure, _ in of_each if figure is not None]
            rows.append(SliceShown(value, questions, of_each, max(known, default=0.0)))
        shown.append((key, rows, max(0, len(counts) - MOST_SLICES_SHOWN)))
    return shown


def comparisons_of(report: Json) -> dict[str, list[Json]]:
    """Return the comparisons of pipelines by measure, each with whether it is significant."""
    by_metric: dict[str, list[Json]] = {}
    for one in report.get("comparisons", ()):
        marked = {**one, "significant": one["p_holm"] < SIGNIFICANT, "low": one["interval"][0],
                  "high": one["interval"][1]}  # fmt: skip
        by_metric.setdefault(one["metric"], []).append(marked)
    return by_metric


def stages_told(pipelines: Sequence[PipelineShown]) -> list[LostStage]:
    """Return the stages that lost an answer of any pipeline, in the order of the flow, for the legend."""
    names = {segment.name for pipeline in pipelines for segment in pipeline.lost}
    return [stage for stage in LostStage if stage.value in names]


def settings_of(differing: Sequence[Differing]) -> Sequence[Mapping[str, str]]:
    """Return the settings in which two pipelines differ as rows; the steps that only one side has are the first row."""
    steps = [one for one in differing if one.whole]
    sides = ([str(value) for value in values if value is not MISSING]
             for values in ([one.before for one in steps], [one.after for one in steps]))  # fmt: skip
    a, b = (", ".join(titles) or "–" for titles in sides)
    first = [{"label": "Steps that the other does not have", "about": "", "key": "", "a": a, "b": b}] if steps else []
    return first + [
        {"label": one.label, "about": one.about, "key": one.key, "a": _value(one.before), "b": _value(one.after)}
        for one in differing if not one.whole
    ]  # fmt: skip


def _value(value: Any) -> str:
    return "–" if value is MISSING else value_words(value) or "none"
