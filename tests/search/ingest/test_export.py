"""What an export writes, an import reads back equal."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.ingest.export import export_bundle
from search.models import Snapshot
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles

NASTY = st.sampled_from("ab \t\n\r\"'\\,|{}[]é\u2028\ufeff🎬%/")
TEXT = st.text(NASTY | st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)
NAME = TEXT.filter(str.strip)
NUMBER = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
VALUE = (
    TEXT | NUMBER | st.booleans() | st.sampled_from(["12", "007", "1999-01-31"]) | st.lists(TEXT | NUMBER, max_size=3)
)
FIELDS = st.dictionaries(NAME, VALUE, max_size=3)


@st.composite
def contents(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    types = draw(st.lists(NAME, min_size=1, max_size=3, unique=True))
    ids = draw(st.lists(TEXT, min_size=1, max_size=6, unique=True))
    nodes = [
        {"id": id_, "type": draw(st.sampled_from(types)), "name": draw(NAME), "fields": draw(FIELDS)}
        | ({"aliases": draw(st.lists(TEXT, max_size=2))} if draw(st.booleans()) else {})
        | ({"url": draw(TEXT)} if draw(st.booleans()) else {})
        for id_ in ids
    ]
    relations = draw(st.lists(NAME.filter(lambda name: len(name.encode()) <= 200), min_size=1, max_size=2, unique=True))
    properties = draw(st.booleans())
    end = st.sampled_from(ids)
    edges = [
        {"source": draw(end), "relation": draw(st.sampled_from(relations)), "target": draw(end)}
        | ({"properties": draw(FIELDS)} if properties else {})
        for _ in range(draw(st.integers(0, 8)))
    ]
    wording = st.fixed_dictionaries({"description": TEXT, "inverse": TEXT})
    about_type = st.fixed_dictionaries(
        {
            "aliases": st.lists(TEXT, max_size=2),
            "description": TEXT,
            "answerable": st.booleans(),
            "hidden": st.booleans(),
        }
    )
    manifest = {
        "node_types": {name: draw(about_type) for name in types},
        "relation_types": [
            {"source": types[0], "relation": relation, "target": types[0], **draw(wording)} for relation in relations
        ],
        "title": draw(NAME),
        "language": "fr",
    }  # fmt: skip
    return nodes, edges, manifest


@pytest.mark.django_db
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=contents())
def test_a_round_trip_changes_nothing(content: Any) -> None:
    nodes, edges, manifest = content
    with tempfile.TemporaryDirectory() as folder:
        first = _import(bundles.write(Path(folder) / "first", nodes, edges, **manifest))
        written = Path(folder) / "second"
        written.mkdir()
        export_bundle(written, first, "films", first.about)
        nodes_before, edges_before = bundles.nodes_of(first), bundles.edges_of(first)
        second = _import(written)
        again = Path(folder) / "third"
        again.mkdir()
        export_bundle(again, second, "films", second.about)
        assert bundles.nodes_of(second) == nodes_before
        assert bundles.edges_of(second) == edges_before
        assert second.schema == first.schema
        assert second.about == first.about
        assert _files(again) == _files(written)


def _import(folder: Path) -> Snapshot:
    return Snapshot.objects.get(pk=import_snapshot(source=folder, index=False).snapshot)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.django_db
def test_edges_with_properties_are_written_as_json_and_others_as_a_table(tmp_path: Path) -> None:
    for name, properties in (("with", {"since": 1999}), ("without", {})):
        edges = [{**edge, **properties} for edge in bundles.EDGES]
        folder = tmp_path / f"{name}-out"
        folder.mkdir()
        export_bundle(folder, _import(bundles.write(tmp_path / name, edges=edges)), "films", {})
        expected = "edges.jsonl.gz" if properties else "edges.tsv.gz"
        assert sorted(_files(folder)) == [expected, "kb.json", "nodes.jsonl.gz"]
