"""Files as people write them: what the guess makes of their cells, and what a mapping may say otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from search.ingest.detect import Detected, detect
from search.ingest.faults import BundleError, FaultLog
from search.ingest.mapping.mapping import SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.validate import check
from search.services.imports.open_source import folder_source

SHOP = (
    "id;name;price;sold;made;tags;place;number;seen;note\n"
    "k1;Lamp;1.234,50;27.808;May 31, 2024;red, oak;Oslo, Norway;9007199254740993;01/02/2024;NULL\n"
    "k2;Rope;-0,5;1.234.567;June 1, 2023;red;Bergen, Norway;9007199254740994;03/04/2024;good\n"
    "k3;Bag;n/a;12;July 4, 2022;oak, blue, red;Rome, Italy;1;05/06/2024;good\n"
)


def guessed(folder: Path, text: str | bytes, name: str = "things.csv") -> Detected:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return detect(folder)


def fields(folder: Path, mapping: SourceMapping | None, log: FaultLog | None = None) -> list[dict[str, Any]]:
    """Return the fields of all nodes in the order of their ids."""
    assert mapping is not None
    checked = check(mapped_source(folder, mapping), log or FaultLog())
    return [node.fields for _, node in sorted(checked.good_nodes(), key=lambda item: item[0])]


def test_each_column_is_read_as_it_is_written(tmp_path: Path) -> None:
    detected = guessed(tmp_path, SHOP)
    log = FaultLog()
    first, second, third = fields(tmp_path, detected.mapping, log)
    assert log.bad_rows == 0
    assert (first["price"], first["sold"], first["made"]) == (1234.5, 27808, "2024-05-31")
    assert (first["tags"], first["place"], first["number"]) == (["red", "oak"], "Oslo, Norway", 9007199254740993)
    assert (first["seen"], "note" in first, "price" in third) == ("01/02/2024", False, False)
    assert (second["price"], second["sold"], second["tags"]) == (-0.5, 1234567, ["red"])


def test_the_report_of_an_import_with_the_guess_says_what_was_decided_and_what_was_not(tmp_path: Path) -> None:
    guessed(tmp_path, SHOP)
    log = FaultLog()
    check(folder_source(tmp_path, accept_guess=True), log)
    told = [remark.message for remark in log.remarks]
    assert told == [
        "Column 'price': all its values are numbers as in 1.234,5, such as '1.234,50', which is 1234.5; 'n/a' in it "
        "stands for no value.",
        "Column 'sold': all its values are numbers as in 1.234,5, such as '27.808', which is 27808.",
        "Column 'made': all its values are dates of the format 'words', such as 'May 31, 2024', which is 2024-05-31.",
        "Column 'seen': what its numbers or dates mean cannot be told, so they stay texts: '01/02/2024' may be "
        "2024-02-01 or 2024-01-02: give the format of its dates, dmy or mdy.",
        "Column 'note': 'NULL' in it stands for no value.",
    ]  # fmt: skip


def test_a_mapping_says_what_the_values_leave_open(tmp_path: Path) -> None:
    detected = guessed(tmp_path, SHOP)
    assert detected.mapping is not None
    mapping = detected.mapping.to_json()
    mapping["files"][0]["columns"]["seen"] = {"use": "date", "dates": "mdy"}
    mapping["files"][0]["columns"]["note"] = {"use": "keyword"}
    first = fields(tmp_path, SourceMapping.from_json(mapping))[0]
    assert (first["seen"], first["note"]) == ("2024-01-02", "NULL")


def test_a_row_far_down_decides_for_the_whole_column(tmp_path: Path) -> None:
    rows = [f"{at},0{at % 9 + 1}/0{at % 8 + 1}/2024,{at % 9 + 1}.{at % 900 + 100}" for at in range(3_000)]
    detected = guessed(tmp_path, "\n".join(["id,day,n", *rows, "x,25/12/2024,1.234.567", ""]))
    assert detected.mapping is not None
    columns = detected.mapping.files[0].columns
    assert (columns["day"].dates, columns["n"].numbers) == ("dmy", "1.234,5")


def test_days_that_do_not_exist_are_bad_rows(tmp_path: Path) -> None:
    log = FaultLog()
    detected = guessed(tmp_path, "id,day,at\n1,2024-01-31,2024-05-31 10:00\n2,2024-02-31,2024-05-31 25:61\n")
    fields(tmp_path, detected.mapping, log)
    assert [(fault.row, fault.message) for fault in log.faults] == [(
        3, "Column 'day': '2024-02-31' is no date that the calendar and the clock have. "
        "Column 'at': '2024-05-31 25:61' is no date that the calendar and the clock have.",
    )]  # fmt: skip


def test_a_person_called_null_keeps_the_name(tmp_path: Path) -> None:
    detected = guessed(tmp_path, "id,name,surname\n1,Ann,Null\n2,Bo,Smith\n")
    assert fields(tmp_path, detected.mapping)[0] == {"surname": "Null"}


def test_rows_refer_to_their_own_file_only_by_keys(tmp_path: Path) -> None:
    numbered = guessed(tmp_path, "a,b\nRed,Red\nRed,Blue\nBlue,Red\nBlue,Blue\n").mapping
    assert numbered is not None
    assert [column.use for column in numbered.files[0].columns.values()] == ["keyword", "keyword"]
    keyed = guessed(tmp_path, "id,name,boss\nk1,Ann,\nk2,Bo,k1\nk3,Cy,k1\n").mapping
    assert keyed is not None
    assert keyed.files[0].columns["boss"].use == "edge"


def test_commas_of_names_places_and_prose_separate_nothing(tmp_path: Path) -> None:
    text = (
        'id,name,author,place,plot\n1,A,"Doe, Jane","Oslo, Norway","Red, but small."\n'
        '2,B,"Roe, Jane","Rome, Italy","A cat, however, sat."\n'
        '3,C,"Poe, Max","Bergen, Norway","It ends, as it began, in rain and much snow."\n'
    )
    assert fields(tmp_path, guessed(tmp_path, text).mapping)[0] == {
        "author": "Doe, Jane", "place": "Oslo, Norway", "plot": "Red, but small.",
    }  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_file_in_another_encoding_is_read_in_it(form: str, tmp_path: Path) -> None:
    rows = {
        "csv": "id,name\nk1,北京大学的学生们\nk2,上海交通大学\n",
        "jsonl": '{"id":"k1","name":"北京大学的学生们"}\n{"id":"k2","name":"上海交通大学"}\n',
    }
    detected = guessed(tmp_path, rows[form].encode("gb18030"), f"schools.{form}")
    assert detected.mapping is not None
    assert detected.mapping.files[0].encoding == "gb18030"
    checked = check(mapped_source(tmp_path, detected.mapping), FaultLog())
    assert [node.name for _, node in checked.good_nodes()] == ["北京大学的学生们", "上海交通大学"]


def test_an_encoding_that_cannot_be_told_has_to_be_given(tmp_path: Path) -> None:
    detected = guessed(tmp_path, "id,name\n1,北京\n2,上海\n".encode("gb18030"))
    with pytest.raises(BundleError, match=r"has to be said in a mapping: things.csv: .*gb18030 reads .*euc_jp reads"):
        folder_source(tmp_path, accept_guess=True)
    assert detected.mapping is not None
    mapping = detected.mapping.to_json()
    mapping["files"][0]["encoding"] = "GB2312"
    checked = check(mapped_source(tmp_path, SourceMapping.from_json(mapping)), FaultLog())
    assert [node.name for _, node in checked.good_nodes()] == ["北京", "上海"]


def test_bytes_that_the_encoding_does_not_have_are_told_and_never_replaced(tmp_path: Path) -> None:
    text = "id,name\nk1,Москва\n".encode("cp1251") + b"k2,a\x98b\n"
    mapping = {"name": "x", "files": [{"path": "things.csv", "role": "nodes", "type": "city", "encoding": "cp1251",
                                       "columns": {"id": {"use": "id"}, "name": {"use": "name"}}}]}  # fmt: skip
    (tmp_path / "things.csv").write_bytes(text)
    log = FaultLog()
    fields(tmp_path, SourceMapping.from_json(mapping), log)
    [fault] = log.faults
    assert (fault.row, fault.kind) == (3, "bad_encoding")
    assert fault.message.startswith("Not cp1251: byte 0x98 at position 1, behind 'a'.")


def test_whole_numbers_of_json_keep_their_digits(tmp_path: Path) -> None:
    row = '{"id":"k1","n":9007199254740993,"huge":123456789012345678901234,"list":[18446744073709551617]}\n'
    detected = guessed(tmp_path, row, "things.jsonl")
    assert fields(tmp_path, detected.mapping) == [
        {"n": 9007199254740993, "huge": "123456789012345678901234", "list": ["18446744073709551617"]}
    ]
