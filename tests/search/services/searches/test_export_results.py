"""The results as rows: the arithmetic in numbers, and the evidence in words."""

from __future__ import annotations

from typing import Any

import pytest

from search.services.searches.export_results import export_results


@pytest.fixture
def described() -> dict[str, Any]:
    """One result with a path and one that only the text found."""
    plan = {
        "anchors": [{"var": "a", "text": "Ada Holm"}], "hops": [{"from": "a", "rel": "directed by", "to_var": "T"}],
    }  # fmt: skip
    path = [{"var": "a", "node": {"name": "Ada Holm"}}, {"relation": "directed by", "direction": "in"},
            {"var": "T", "node": {"name": "Amber Road"}}]  # fmt: skip
    evidence = {
        "plan_index": 0, "anchors": [{"var": "a", "status": "met"}], "hops": [{"index": 0, "status": "met"}],
        "residual": {"text": "amber", "status": "met", "score": 0.269}, "paths": [path, path],
    }  # fmt: skip
    share = {"rank": 1, "score": -0.25, "weight": 2.0, "contribution": 0.5}
    return {
        "plans": [{"plan": plan}],
        "results": [
            {"rank": 1, "score": 0.5, "node": {"id": "film/1", "type": "film", "name": "Amber Road"},
             "snippet": "A road.", "scores": {"graph": share}, "evidence": evidence},
            {"rank": 2, "score": 0.1, "node": {"id": "=1+2", "type": "film", "name": "@SUM(A1)"}, "snippet": "",
             "scores": {"text": {"rank": None, "score": None, "weight": 1.0, "contribution": 0.0}}, "evidence": None},
        ],
    }  # fmt: skip


def test_every_result_is_a_row_with_its_arithmetic_and_its_paths(described: dict[str, Any]) -> None:
    header, first, second = export_results(described)

    assert header == [
        "rank", "score", "id", "type", "name", "snippet", "graph rank", "graph score", "graph weight",
        "graph contribution", "text rank", "text score", "text weight", "text contribution", "conditions", "paths",
    ]  # fmt: skip
    assert first == [
        1, 0.5, "film/1", "film", "Amber Road", "A road.", 1, -0.25, 2.0, 0.5, "", "", "", "",
        "Ada Holm: met; directed by: met; “amber”: likeness 0.27",
        "Ada Holm ← directed by — Amber Road\nAda Holm ← directed by — Amber Road",
    ]  # fmt: skip
    assert second == [2, 0.1, "=1+2", "film", "@SUM(A1)", "", "", "", "", "", "", "", 1.0, 0.0, "", ""]


def test_filters_are_conditions_too(described: dict[str, Any]) -> None:
    described["plans"][0]["plan"]["filters"] = [{"var": "T", "field": "year", "op": ">", "value": 1990}]
    described["results"][0]["evidence"]["filters"] = [{"index": 0, "status": "not_met"}]

    _, first, _ = export_results(described)

    assert first[-2] == "Ada Holm: met; directed by: met; year: not met; “amber”: likeness 0.27"


def test_no_results_are_a_header_alone() -> None:
    assert [row[:2] for row in export_results({"plans": [], "results": []})] == [["rank", "score"]]
