"""A described search made by hand, with as much of it as answers and verdicts read."""

from __future__ import annotations

from typing import Any


def answer(kind: str, count: int, *, complete: bool = True, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "count": count, "complete": complete} | more


def search(
    answer: dict[str, Any], answers: str, *, plan: dict[str, Any] | None = None, given: bool = False, **more: Any
) -> dict[str, Any]:
    """A described search whose results, called A, B, C …, are answers (`+`) or near (`-`)."""
    whole = {"anchors": [{"var": "a", "text": "Ada"}], "hops": [], "filters": [],
             "target": {"var": "T", "labels": ["paper"], "relevance_text": ""}}  # fmt: skip
    path = [[{"node": {"name": "Ada"}}, {"relation": "WROTE", "direction": "out"}, {"node": {"name": "On amber"}}]]
    results = [
        {
            "rank": at,
            "answers": sign == "+",
            "node": {"id": f"n{at}", "type": "paper", "name": chr(64 + at)},
            "evidence": {"paths": path if sign == "+" else []},
        }
        for at, sign in enumerate(answers, 1)
    ]
    entry = {"plan": whole | (plan or {}), "source": "schema", "probability": 0.9} | (
        {"given": whole, "dropped": ["about amber"]} if given else {}
    )
    return {
        "status": "done", "plan_index": 0, "plans": [entry], "answer": answer, "results": results, "linked": [],
        "knowledge_base": "papers", "question": "?", "fusion": None, "steps": [],
    } | more  # fmt: skip
