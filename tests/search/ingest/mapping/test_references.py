"""References are found by the overlap of values and by names; numbers need a name as well."""

from __future__ import annotations

from pathlib import Path

from search.ingest.detect import detect
from search.ingest.faults import FaultLog
from search.ingest.mapping.mapping import ColumnMapping, SourceMapping
from search.ingest.mapping.source import mapped_source
from search.ingest.validate import CheckedBundle, check

SHOPS = "id,name\ns1,North Store\ns2,South Store\ns3,East Store\n"


def guessed(folder: Path, **files: str) -> SourceMapping:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    mapping = detect(folder, "given").mapping
    assert mapping is not None
    return mapping


def use(mapping: SourceMapping, path: str, column: str) -> ColumnMapping:
    file = mapping.file(path)
    assert file is not None
    return file.columns[column]


def read(folder: Path, mapping: SourceMapping) -> tuple[CheckedBundle, list[tuple[str, str]]]:
    checked = check(mapped_source(folder, SourceMapping.from_json(mapping.to_json())), FaultLog())
    nodes = dict(checked.good_nodes())
    pairs = zip(checked.edges.source.tolist(), checked.edges.target.tolist(), strict=True)
    return checked, [(nodes[begin].name, nodes[end].name) for begin, end in pairs]


def test_names_that_another_table_gives_beside_its_ids_lead_to_its_rows(tmp_path: Path) -> None:
    mapping = guessed(tmp_path, shops=SHOPS, lamps="id,name,sold at\nl1,Reading,South Store\nl2,Desk,North Store\n")
    column = use(mapping, "lamps.csv", "sold at")
    assert (column.use, column.of, column.by) == ("edge", "shops.csv", "name")
    assert sorted(read(tmp_path, mapping)[1]) == [("Desk", "North Store"), ("Reading", "South Store")]


def test_numbers_that_are_ids_elsewhere_need_a_name_that_says_so(tmp_path: Path) -> None:
    mapping = guessed(
        tmp_path, rooms="id,name\n1,Blue\n2,Red\n3,Green\n", talks="id,title,room,hours\n1,Stars,2,1\n2,Seas,3,2\n"
    )
    assert use(mapping, "talks.csv", "room").use == "edge"
    assert use(mapping, "talks.csv", "hours").use == "number"


def test_a_table_without_a_key_that_refers_to_two_others_joins_them(tmp_path: Path) -> None:
    mapping = guessed(
        tmp_path,
        shops=SHOPS,
        people="id,name\np1,Ann\np2,Bo\n",
        visits="shop,person,stars\ns1,p1,4\ns1,p2,5\ns2,p1,4\n",
    )
    file = mapping.file("visits.csv")
    assert file is not None
    assert (file.role, file.relation, file.columns["stars"].use) == ("edges", "visits", "number")
    assert len(read(tmp_path, mapping)[1]) == 3


def test_a_table_with_names_of_its_own_joins_nothing(tmp_path: Path) -> None:
    teams = "team,year,name,league,rival\nt1,1,Reds,l1,l2\nt1,2,Reds,l1,l2\nt2,1,Blues,l2,l1\nt2,2,Blues,l2,l1\n"
    mapping = guessed(tmp_path, leagues="id,title\nl1,North\nl2,South\n", teams=teams)
    file = mapping.file("teams.csv")
    assert file is not None
    assert file.role == "nodes"


def test_a_column_of_kinds_makes_types_only_where_the_rows_differ(tmp_path: Path) -> None:
    same = guessed(tmp_path, planes="id,type,seats\na1,jet,9\na2,prop,4\na3,jet,7\na4,prop,3\n")
    assert (use(same, "planes.csv", "type").use, same.files[0].type) == ("keyword", "plane")
    differ = guessed(
        tmp_path, planes="id,type,seats,born\na1,plane,9,\na2,person,,1970\na3,plane,7,\na4,person,,1980\n"
    )
    assert use(differ, "planes.csv", "type").use == "type"


def test_the_row_of_an_id_that_another_has_gives_that_one_no_relation(tmp_path: Path) -> None:
    lamps = "id,name,shop_id\nl1,Reading,s1\nl2,Desk,s2\nl3,Wall,s2\nl4,Floor,s1\nl5,Bed,s3\nl1,Other,s3\n"
    mapping = guessed(tmp_path, shops=SHOPS, lamps=lamps)
    assert [end for begin, end in read(tmp_path, mapping)[1] if begin == "Reading"] == ["North Store"]


def test_values_become_nodes_of_their_own_once_each(tmp_path: Path) -> None:
    mapping = guessed(tmp_path, books="id,title,tags\nb1,Seas,blue|deep\nb2,Sky,blue\nb3,Caves,deep|dark\n").to_json()
    tags = {"use": "edge", "relation": "has tag", "makes": "tag", "prefix": "tag:", "separator": "|"}
    mapping["files"][0]["columns"]["tags"] = tags
    checked, pairs = read(tmp_path, SourceMapping.from_json(mapping))
    assert [(one.name, one.count) for one in checked.schema.node_types] == [("book", 3), ("tag", 3)]
    assert sorted(pairs) == [("Caves", "dark"), ("Caves", "deep"), ("Seas", "blue"), ("Seas", "deep"), ("Sky", "blue")]
