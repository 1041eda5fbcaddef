"""Files without a column of ids: keys, then names, then the numbers of the rows; never free text."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.ingest.detect import detect
from search.ingest.faults import FaultLog
from search.ingest.mapping.mapping import FileMapping, SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.validate import check

REVIEWS = (
    "text,stars,shop\n"
    "The grinder broke after two weeks and nobody answered my letters.,1,Orme\n"
    "A very quiet machine that makes good coffee every morning since May.,5,Orme\n"
    "The box was open when it came and the lid of the jug was missing.,2,Vesk\n"
)
LAMPS = "name,price\nReading lamp,19.50\nDesk lamp,24.90\nFloor lamp,80.00\n"
CODES = "title,sku,day\nReading lamp,R-1,2024-01-01\nDesk lamp,D-7,2024-01-02\n"


def guessed(folder: Path, name: str, text: str) -> FileMapping:
    (folder / name).write_text(text)
    mapping = detect(folder).mapping
    assert mapping is not None
    return mapping.files[0]


def test_free_text_is_no_id_and_the_rows_are_numbered(tmp_path: Path) -> None:
    file = guessed(tmp_path, "reviews.csv", REVIEWS)
    assert (file.numbered, file.used("id")) == (True, ())
    assert file.columns["text"].use in ("name", "text")
    source = mapped_source(tmp_path, SourceMapping("shop", (file,)))
    # The header is row 1, as in the rows that faults name.
    rows = [(number, row["id"]) for number, row in source.nodes[0].rows(lambda done: None) if isinstance(row, dict)]
    assert rows == [(2, "reviews/2"), (3, "reviews/3"), (4, "reviews/4")]
    log = FaultLog()
    assert (len(check(source, log).key_of), log.bad_rows) == (3, 0)


def test_names_that_differ_are_ids_and_names(tmp_path: Path) -> None:
    file = guessed(tmp_path, "lamps.csv", LAMPS)
    assert (file.numbered, file.used("id"), file.used("name")) == (False, ("name",), ())
    nodes = mapped_source(tmp_path, SourceMapping("shop", (file,))).nodes[0].rows(lambda done: None)
    assert [(row["id"], row["name"]) for _, row in nodes if isinstance(row, dict)] == [
        ("Reading lamp", "Reading lamp"), ("Desk lamp", "Desk lamp"), ("Floor lamp", "Floor lamp"),
    ]  # fmt: skip
    reason = next(one for one in detect(tmp_path).reasons if one.column == "name")
    assert "number the rows" in reason.because


def test_keys_without_a_space_go_before_names(tmp_path: Path) -> None:
    file = guessed(tmp_path, "lamps.csv", CODES)
    assert (file.used("id"), file.used("name")) == (("sku",), ("title",))


def test_numbered_rows_need_no_id_and_allow_none() -> None:
    with pytest.raises(Exception, match="choose one of both") as refused:
        SourceMapping.from_json({"name": "shop", "files": [
            {"path": "a.csv", "role": "nodes", "type": "lamp", "numbered": True, "columns": {"a": {"use": "id"}}},
        ]})  # fmt: skip
    assert [fault.pointer for fault in refused.value.faults] == ["/files/0/numbered"]
    data = {"name": "shop", "files": [{"path": "a.csv", "role": "nodes", "type": "lamp", "numbered": True}]}
    mapping = SourceMapping.from_json(data)
    assert SourceMapping.from_json(mapping.to_json()) == mapping
