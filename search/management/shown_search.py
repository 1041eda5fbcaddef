"""shown: a search as text for a terminal; it uses only what `describe_search` returns."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from search.domain.fusion import SINGLE
from search.plan_words import (
    AGGREGATE_WORDS,
    asked_words,
    exclusion_words,
    filter_words,
    order_words,
    variables_of,
    where_words,
)
from search.services.searches.written import written_lines
from search.text import path_text

WIDTH = 110
"""Columns of the terminal that are used."""
SHOWN_OF_A_PART = 300
"""Characters that are shown of a part of the searched text."""
RECOVERY = "recover"
"""Steps with this role report changes to a plan that found nothing."""
TICKS = {"met": "✓", "not_met": "✗", "unknown": "?"}
"""Status of a condition → its sign."""


def shown(search: dict[str, Any], *, coloured: bool = False) -> str:
    """Return a search as text: plans, results with ticks, paths and sums, the fusion, and the times of the steps."""
    console = Console(width=WIDTH, force_terminal=coloured, highlight=False, emoji=False)
    with console.capture() as captured:
        for part in (
            _head(search),
            _plans(search),
            _expansion(search),
            _results(search),
            _fusion(search),
            _steps(search),
        ):
            if part is not None:
                console.print(part)
    return captured.get().rstrip("\n")


def _head(search: dict[str, Any]) -> RenderableType:
    seconds = f", {search['seconds']:.2f} s" if search["seconds"] is not None else ""
    name = search["pipeline"]["name"]
    lines = [
        f"[bold]{escape(search['question'])}[/]",
        f"[dim]{escape(search['release'] or search['knowledge_base'])}, {name}: {search['status']}{seconds}[/]",
    ]
    answer = search["answer"]
    lines += [f"[bold]{escape(answer['line'])}[/]", escape(answer["because"])] if answer["verdict"] else []
    lines += [escape(line) for line in written_lines(answer["written"])]
    if reworded := answer.get("reworded"):
        lines.append(
            f"[dim]{escape(reworded['because'] or 'In the words of a language model, each sentence checked.')}[/]"
        )
    lines += [f"[cyan]Or do you mean: {escape(one['sentence'])}[/]" for one in search["clarify"][1:]]
    lines += [f"[cyan]{escape(step['detail'])}[/]" for step in search["steps"] if step["role"] == RECOVERY]
    lines += [
        f"[yellow]{step['name']}: {escape(step['detail'])}[/]"
        for step in search["steps"]
        if step["status"] in ("degraded", "failed") and step["role"] != RECOVERY
    ]
    return Text.from_markup("\n".join(lines))


def _plans(search: dict[str, Any]) -> RenderableType | None:
    if not search["plans"]:
        return None
    table = Table(title="Plans", title_justify="left", box=None, padding=(0, 2, 0, 0), header_style="dim")
    for column, justify in (("p", "right"), ("found", "right"), ("source", "left"), ("plan", "left")):
        table.add_column(column, justify=justify)  # type: ignore[arg-type]
    for entry in search["plans"][:5]:
        # A plan without anchors and conditions was not executed in the graph: it has no count and no probability.
        plan = entry["plan"]
        walks = any(plan.get(key) for key in ("anchors", "filters", "exclude", "order"))
        walks = walks or plan.get("ask") in AGGREGATE_WORDS
        numbers = (f"{entry['probability']:.2f}", str(entry["found"])) if walks else ("–", "–")
        table.add_row(*numbers, entry["source"], escape(plan_line(entry["plan"])))
    return table


def _expansion(search: dict[str, Any]) -> RenderableType | None:
    """Return the text that was searched in place of the question, one line a part."""
    if not search.get("expansion"):
        return None
    table = Table(title="Searched text", title_justify="left", box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("from")
    table.add_column("text", ratio=1)
    for part in search["expansion"]["parts"]:
        text = part["text"].replace("\n", " · ")
        cut = " …" if part["cut"] or len(text) > SHOWN_OF_A_PART else ""
        table.add_row(part["source"], Text(text[:SHOWN_OF_A_PART] + cut))
    return table


def plan_line(plan: dict[str, Any]) -> str:
    """Return a plan in one line: `a="Ada" person; a ←directed by– T film`."""
    parts = [_anchor(anchor) for anchor in plan["anchors"]]
    parts += [_hop(hop) for hop in plan["hops"]]
    parts += [f"{f['var']}.{filter_words(f)}" for f in plan.get("filters", [])]
    parts += [f"not {exclusion_words(one, variables_of(plan))}" for one in plan.get("exclude", [])]
    parts += [f"by {order_words(plan['order'])}"] if plan.get("order") else []
    parts += asked_words(plan)
    target = plan["target"]
    wanted = f"{target['var']} {'|'.join(target['labels']) or 'anything'}"
    return "; ".join([*parts, wanted + (f' about "{target["relevance_text"]}"' if target["relevance_text"] else "")])


def _anchor(anchor: dict[str, Any]) -> str:
    inner = f" [{plan_line(anchor['plan'])}]" if anchor.get("plan") else ""
    return f'{anchor["var"]}="{anchor["text"] or ", ".join(anchor.get("ids", []))}" {anchor["label"]}{inner}'


def _hop(hop: dict[str, Any]) -> str:
    arrow = {"out": f"–{hop['rel']}→", "in": f"←{hop['rel']}–"}.get(hop.get("direction", ""), f"–{hop['rel']}–")
    return f"{hop['from']} {arrow} {hop['to_var']} {hop['to_label']}{where_words(hop)}"


def _results(search: dict[str, Any]) -> RenderableType:
    if not search["results"]:
        return Text("No results.", style="yellow") if search["status"] == "done" else Text("")
    table = Table(title="Results", title_justify="left", box=None, padding=(0, 2, 1, 0), header_style="dim")
    table.add_column("", justify="right")
    table.add_column("score", justify="right")
    table.add_column("conditions")
    table.add_column("answer", ratio=1)
    for result in search["results"]:
        ticks = _ticks(result["evidence"], search["plan_index"])
        table.add_row(str(result["rank"]), f"{result['score']:.4f}", ticks, _answer(result))
    return table


def _checked(evidence: dict[str, Any]) -> list[dict[str, Any]]:
    listed = [evidence["anchors"], evidence["hops"], evidence.get("filters", ()), evidence.get("exclude", ())]
    return [entry for several in listed for entry in several]


def _ticks(evidence: dict[str, Any] | None, shown: int | None) -> str:
    """Return the signs of the conditions; before them the number of their plan, if it is not the plan shown."""
    if evidence is None:
        return ""
    signs = "".join(TICKS[entry["status"]] for entry in _checked(evidence))
    other = f"plan {evidence['plan_index'] + 1}:" if signs and evidence["plan_index"] != shown else ""
    excluded = "excluded" if any(one["status"] == "not_met" for one in evidence.get("exclude", ())) else ""
    # The residual's similarity is shown as a number, because it is not a condition that is met or not.
    near = _near(evidence["residual"].get("score")) if evidence["residual"]["text"] else ""
    return " ".join(filter(None, [other, signs, near, excluded]))


def _near(score: float | None) -> str:
    return "?" if score is None else f"≈{score:.2f}"


def _answer(result: dict[str, Any]) -> RenderableType:
    node = result["node"]
    lines = [Text.from_markup(f"[bold]{escape(node['name'])}[/] [dim]{escape(node['type'])} {escape(node['id'])}[/]")]
    for path in (result["evidence"] or {}).get("paths", [])[:3]:
        lines.append(Text(path_text(path), style="green"))
    if result["snippet"]:
        lines.append(Text(result["snippet"]))
    lines.append(Text(_sum(result), style="dim"))
    return Group(*lines)


def _sum(result: dict[str, Any]) -> str:
    """Return the sum that gives the score: `graph #1 0.3333 + text #2 0.1429`."""
    found = [(name, share) for name, share in result["scores"].items() if share["rank"] is not None]
    found.sort(key=lambda item: -item[1]["contribution"])
    return " + ".join(f"{name} #{share['rank']} {share['contribution']:.4f}" for name, share in found)


def _fusion(search: dict[str, Any]) -> RenderableType | None:
    fusion = search["fusion"]
    if fusion is None or fusion["method"] == SINGLE:
        return None
    weights = ", ".join(f"{name} {weight:g}" for name, weight in sorted(fusion["weights"].items()))
    probability = fusion.get("probability")
    first = "" if probability is None else f"the first is right with probability {probability:.2f}"
    facts = (fusion["bucket"], fusion["risk"], "the graph leads" * fusion["leads"], first)
    chosen = ", ".join(part for part in facts if part)
    return Text(f"Fused by {fusion['method']} reciprocal ranks, k = {fusion['k']:g}: {weights}. {chosen}", style="dim")


def _steps(search: dict[str, Any]) -> RenderableType:
    steps = [
        f"{step['name']} {1000 * step['seconds']:.0f} ms" for step in search["steps"] if step["status"] != "skipped"
    ]
    return Text(" · ".join(steps), style="dim")
