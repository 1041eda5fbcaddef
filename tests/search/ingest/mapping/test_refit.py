"""The mapping of an earlier import is put on the files of a new one."""

from __future__ import annotations

from typing import Any

from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.refit import refit

EARLIER: dict[str, Any] = {
    "name": "cinema", "about": {"title": "Cinema"}, "types": {"Film": "film"}, "relations": {},
    "files": [
        {"path": "films.csv", "role": "nodes", "type": "film", "delimiter": ";", "columns": {
            "no": {"use": "id"}, "title": {"use": "name"}, "old": {"use": "text"},
            "by": {"use": "edge", "relation": "directed by"}}},
        {"path": "people.csv", "role": "nodes", "type": "person", "columns": {
            "no": {"use": "id"}, "name": {"use": "name"}}},
    ],
}  # fmt: skip
GUESSED: dict[str, Any] = {
    "name": "films", "about": {}, "types": {}, "relations": {},
    "files": [
        {"path": "films.csv", "role": "nodes", "type": "films", "columns": {
            "no": {"use": "number"}, "title": {"use": "id"}, "by": {"use": "keyword"}, "stars": {"use": "number"}}},
        {"path": "people-2026.csv", "role": "edges", "relation": "x", "columns": {
            "no": {"use": "source"}, "name": {"use": "target"}}},
        {"path": "shops.csv", "role": "nodes", "type": "shop", "columns": {"id": {"use": "id"}}},
    ],
}  # fmt: skip
COLUMNS = {file["path"]: list(file["columns"]) for file in GUESSED["files"]}


def test_known_files_get_their_earlier_uses_and_new_columns_keep_the_guess() -> None:
    fitted = refit(EARLIER, GUESSED, COLUMNS)
    films, people, shops = fitted.mapping["files"]
    assert films["columns"] == {
        "no": {"use": "id"}, "title": {"use": "name"}, "by": {"use": "edge", "relation": "directed by"},
        "stars": {"use": "number"},
    }  # fmt: skip
    assert films["type"] == "film"
    assert "delimiter" not in films
    # Another name, but the very same columns: it is the successor of people.csv.
    assert (people["role"], people["type"], people["columns"]["no"]) == ("nodes", "person", {"use": "id"})
    assert "relation" not in people
    assert shops == GUESSED["files"][2]
    assert fitted.known == ("films.csv", "people-2026.csv")
    assert fitted.new == (("films.csv", "stars"),)
    assert (fitted.mapping["name"], fitted.mapping["about"]) == ("cinema", {"title": "Cinema"})
    assert SourceMapping.from_json(fitted.mapping).name == "cinema"


def test_a_new_column_takes_no_use_that_only_one_may_have() -> None:
    guessed = {**GUESSED, "files": [{**GUESSED["files"][0], "columns": {**EARLIER["files"][0]["columns"],
                                                                      "id": {"use": "id"}}}]}  # fmt: skip
    fitted = refit(EARLIER, guessed, {"films.csv": list(guessed["files"][0]["columns"])})
    assert fitted.mapping["files"][0]["columns"]["id"] == {"use": "field"}


def test_other_files_are_not_known() -> None:
    assert refit(EARLIER, {**GUESSED, "files": GUESSED["files"][2:]}, COLUMNS).known == ()
