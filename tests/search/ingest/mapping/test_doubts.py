"""What is hardly meant is said, and what is offered with it mends it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search.ingest.mapping.doubts import changed
from search.services.imports.preview import preview
from tests.search.ingest.reallife import FOLDERS


def written(name: str, at: Path) -> Path:
    for file, content in FOLDERS[name].files.items():
        (at / file).write_bytes(content)
    return at


def warning(shown: dict[str, Any], kind: str) -> dict[str, Any]:
    return next(one for one in shown["warnings"] if one["kind"] == kind)


def mended(folder: Path, shown: dict[str, Any], kind: str, label: str) -> dict[str, Any]:
    mend = next(one for one in warning(shown, kind)["mends"] if one["label"] == label)
    return preview(folder, changed(shown["mapping"], mend["changes"]))


def test_references_that_lead_nowhere_are_mended_by_the_prefix_that_they_have(tmp_path: Path) -> None:
    folder = written("garden", tmp_path)
    shown = preview(folder)
    said = "None of the 50 references in the column 'nursery_id' (NUR-1, NUR-2, NUR-3) leads to an entity."
    assert warning(shown, "dangling")["message"] == said
    after = mended(folder, shown, "dangling", "Put 'NUR-' before the ids of nurseries.csv")
    assert (after["edges"], after["bad_rows"], after["warnings"]) == (40 + 50, 3 + 10, [])


def test_a_table_without_a_relation_is_offered_its_values_as_nodes(tmp_path: Path) -> None:
    folder = written("recipes", tmp_path)
    shown = preview(folder)
    after = mended(folder, shown, "no_relations", "Make entities of the 6 values of 'Tags'")
    # 42 recipes with one, two and three tags in turn.
    assert (after["nodes"], after["edges"]) == (42 + 6, 14 * (1 + 2 + 3))
    assert all(one["kind"] != "no_relations" for one in after["warnings"])


def test_relations_that_the_mapping_took_away_are_offered_again(tmp_path: Path) -> None:
    folder = written("museum", tmp_path)
    shown = preview(folder)
    away = [{"file": "Objekte.csv", "column": "Künstler-Nr", "values": {"use": "keyword"}}]
    without = preview(folder, changed(shown["mapping"], away))
    assert without["edges"] == 0
    after = mended(folder, without, "no_relations", "'Künstler-Nr' leads to Künstler.csv")
    assert after["edges"] == 48


@pytest.mark.parametrize(("label", "weight"), [("1.101 → 1.101", 1.101), ("1.101 → 1101", 1101)])
def test_a_column_that_can_be_read_in_two_ways_asks(label: str, weight: float, tmp_path: Path) -> None:
    (tmp_path / "parts.csv").write_text("id;name;weight\n1;Screw;1.101\n2;Nut;2.102\n3;Bolt;3.103\n")
    shown = preview(tmp_path)
    assert warning(shown, "two_ways")["column"] == "weight"
    after = mended(tmp_path, shown, "two_ways", label)
    column = next(one for one in after["files"][0]["columns"] if one["name"] == "weight")
    assert column["mapping"]["use"] == "number"
    assert (column["read"] or [["1.101", "1.101"]])[0] == ["1.101", f"{weight:,}"]


def test_other_columns_of_the_file_answer_the_question(tmp_path: Path) -> None:
    (tmp_path / "parts.csv").write_text("id;name;weight;length\n1;Screw;1.101;1,5\n2;Nut;2.102;2,25\n")
    shown = preview(tmp_path)
    column = next(one for one in shown["files"][0]["columns"] if one["name"] == "weight")
    assert (column["mapping"], column["read"]) == ({"use": "number", "numbers": "1.234,5"}, [["1.101", "1,101"]])
    assert "as the column 'length' is written so" in column["because"]


def test_a_bad_cell_loses_its_row_or_the_cell_alone(tmp_path: Path) -> None:
    (tmp_path / "parts.csv").write_text("id,name,weight\n1,Screw,1\n2,Nut,heavy\n3,Bolt,3\n")
    mapping = preview(tmp_path)["mapping"]
    number = [{"file": "parts.csv", "column": "weight", "values": {"use": "number"}}]
    shown = preview(tmp_path, changed(mapping, number))
    assert (shown["nodes"], shown["bad_rows"]) == (2, 1)
    after = mended(tmp_path, shown, "bad_cells", "Keep the rows, leave these cells empty")
    assert (after["nodes"], after["bad_rows"]) == (3, 0)
    assert any("'heavy' is not a number. The cell is left empty." in one["message"] for one in after["remarks"])
