"""Values of a job as text for people."""

from __future__ import annotations

import re

from search.admin.job_values import text_of
from search.admin.readable import readable


def test_an_object_is_told_by_its_names_and_not_as_python_writes_it() -> None:
    files = [{"path": "chefs.csv", "columns": {"id": {"use": "id"}}}, {"path": "recipes.csv", "columns": {}}]
    mapping = {"name": "kitchen", "about": {}, "files": files, "types": {"Chef": "chef"}, "version": 1}
    assert text_of(mapping) == "name kitchen, files chefs.csv, recipes.csv, types of 1, version 1"
    assert text_of({}) == "–"
    assert text_of([{"name": "a", "x": 1}, {"b": 1, "c": 2}, 3]) == "a, one of 2 values, 3"


def test_values_that_hold_others_are_tables_and_never_brackets() -> None:
    shown = readable({"films": {"H@1": 31.25, "MRR": 40.0}, "path": {"H@1": 50.0, "MRR": None}})
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", shown)
    assert cells == ["Name", "H@1", "MRR", "films", "31.25", "40", "path", "50", "–"]
    nested = readable({"faults": [{"kind": "number", "examples": [{"row": 3}]}], "left_out": 0})
    assert "<summary>1 values</summary>" in nested
    assert not re.search(r"[{}\[\]]|&#x27;", nested)
    assert readable([1, 2]) == "1, 2"
    deep: dict[str, object] = {"bottom": 1}
    for _ in range(50):
        deep = {"in": deep, "beside": 1}
    assert "2 values" in readable(deep)
