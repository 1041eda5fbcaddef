"""The encoding of a file is told from all of its bytes; what two encodings explain is said, with both readings."""

from __future__ import annotations

import pytest

from search.ingest.faults import BundleError
from search.ingest.mapping.encodings import find_encoding
from search.ingest.text_formats import ENCODINGS, encoding_name

RUSSIAN = "id,name,note\nk1,Москва,столица России\nk2,Казань,город на Волге\n"
CHINESE = "id,name,note\nk1,北京大学,这是一所很好的大学\nk2,上海交通大学,另一所大学\n"
JAPANESE = "id,name,note\nk1,東京大学,これは良い大学です\nk2,京都大学,もう一つの大学\n"
TEXTS = [
    ("gb18030", CHINESE), ("gb18030", "id,city\n1,重庆\n2,广州\n3,深圳\n4,杭州\n"), ("utf-16-be", CHINESE),
    ("big5", "id,name,note\nk1,國立臺灣大學,這是一所很好的大學\nk2,清華大學,另一所大學\n"), ("cp932", JAPANESE),
    ("euc_jp", JAPANESE), ("iso2022_jp", JAPANESE), ("cp932", "id,name\n1,ﾄｳｷｮｳ\n2,カメラ\n3,日本語テキスト\n"),
    ("euc_kr", "id,name,note\nk1,서울대학교,좋은 대학교입니다\nk2,연세대학교,다른 대학교\n"),
    ("cp1251", RUSSIAN), ("koi8-r", RUSSIAN), ("cp866", RUSSIAN), ("utf-16-le", RUSSIAN), ("utf-16", RUSSIAN),
    ("utf-32", RUSSIAN), ("utf-8", RUSSIAN), ("utf-8-sig", RUSSIAN),
    ("cp1252", "id,name\nk1,Café Zürich\nk2,Señor Núñez\n"),
    ("cp1250", "id,name\nk1,Łódź i Gdańsk\nk2,Kraków żółw\n"),
    ("cp1253", "id,name\nk1,Αθήνα είναι πόλη\nk2,Θεσσαλονίκη\n"),
    ("cp1256", "id,name\nk1,القاهرة مدينة كبيرة\nk2,دمشق\n"), ("cp874", "id,name\nk1,กรุงเทพมหานคร\nk2,เชียงใหม่\n"),
    ("iso8859-2", "id,name\nk1,Šárka Žižková\nk2,źdźbło i ściana\nk3,Łukasz, wąż\n"),
    ("cp850", "id,name\nk1,Café Zürich\nk2,Señor Núñez\nk3,Müller straße\n"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_a_file_is_read_as_it_was_written(encoding: str, text: str) -> None:
    data = text.encode(encoding)
    found = find_encoding("a.csv", [data[:10], data[10:31], data[31:]])
    assert data.decode(found.name).removeprefix("\ufeff") == text
    assert (found.name in ENCODINGS, found.unsure) == (True, "")
    assert bool(found.notes) == (not encoding.startswith("utf-8"))


def test_bytes_far_down_in_the_file_decide_as_well() -> None:
    blocks = [b"id,name\n", *[b"1,plain\n" * 1_000] * 50, RUSSIAN.encode("cp1251")]
    found = find_encoding("a.csv", blocks)
    assert (found.name, "a.csv:50003: byte 0xcc" in found.notes[0]) == ("cp1251", True)


def test_what_two_encodings_explain_is_said_with_both_readings() -> None:
    found = find_encoding("a.csv", ["id,name\n1,北京\n2,上海\n".encode("gb18030")])
    assert "it cannot be told in which encoding it is: gb18030 reads '1,北京'; euc_jp reads '1,臼奨'" in found.unsure
    [note] = find_encoding("a.csv", ["1,España\n".encode("cp1252")]).notes
    assert "cp1252 reads '1,España'" in note
    assert "cp1250 reads '1,Espańa'" in note


def test_a_damaged_line_does_not_change_the_encoding_of_the_others() -> None:
    lines = [f"{at},Zürich {at}\n".encode() for at in range(20)]
    assert find_encoding("a.csv", [b"".join([*lines, b"21,Z\xfcrich\n"])]).name == "utf-8"


def test_bytes_of_no_text_are_refused() -> None:
    with pytest.raises(BundleError, match="is no text"):
        find_encoding("a.csv", [bytes(range(256)) * 4])


@pytest.mark.parametrize(
    ("said", "name"),
    [("GB2312", "gb2312"), ("GBK", "gbk"), ("UTF8", "utf-8"), ("sjis", "shift_jis"), ("windows-1251", "cp1251"),
     ("latin1", "latin-1"), ("rot13", None), ("idna", None), ("a\0b", None), ("", None), ("big5", "big5")],
)  # fmt: skip
def test_an_encoding_may_be_named_as_people_name_it(said: str, name: str | None) -> None:
    assert encoding_name(said) == name
