"""Values of a job as text for people."""

from __future__ import annotations

from search.admin.job_values import text_of


def test_an_object_is_told_by_its_names_and_not_as_python_writes_it() -> None:
    files = [{"path": "chefs.csv", "columns": {"id": {"use": "id"}}}, {"path": "recipes.csv", "columns": {}}]
    mapping = {"name": "kitchen", "about": {}, "files": files, "types": {"Chef": "chef"}, "version": 1}
    assert text_of(mapping) == "name kitchen, files chefs.csv, recipes.csv, types of 1, version 1"
    assert text_of({}) == "–"
