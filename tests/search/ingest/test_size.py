"""The size of a bundle, guessed from its files, and what its import needs."""

import gzip
import json
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from search.domain.job_kinds import Needs
from search.ingest.parts import SEND
from search.ingest.size import HEAD_BYTES, Size, bundle_size
from search.services.knowledge.expected import import_needs, import_parts, index_parts
from tests.search.ingest import bundles

NODES = [
    {"id": f"n{at}", "type": "film", "name": f"Film {at}", "fields": {"plot": "A long walk. " * (at % 5)}}
    for at in range(3_000)
]
EDGES = [{"source": f"n{at}", "relation": "R", "target": f"n{at * 7 % 3_000}"} for at in range(5_000)]


@pytest.mark.parametrize(("form", "compression"), [("jsonl", ""), ("jsonl", ".gz"), ("jsonl", ".zst"), ("csv", ""),
                                                   ("tsv", ".gz"), ("parquet", "")])  # fmt: skip
def test_rows_and_characters_are_guessed_from_every_form(tmp_path: Path, form: str, compression: str) -> None:
    size = bundle_size(bundles.write(tmp_path, NODES, EDGES, form=form, compression=compression))
    # A table has a header.
    assert size.nodes == pytest.approx(3_000, abs=1)
    assert size.edges == pytest.approx(5_000, abs=1)
    if form == "jsonl":
        assert size.characters == pytest.approx(len(bundles.lines(NODES)), rel=0.01)
    assert size.node_bytes == (tmp_path / f"nodes.{form}{compression}").stat().st_size


def test_the_counts_of_the_manifest_are_believed(tmp_path: Path) -> None:
    types = {"film": {"count": 40}, "person": {"count": 2}}
    source = bundles.write(tmp_path, node_types=types, relation_types=[{"count": 7}, {"count": 8}])
    assert (bundle_size(source).nodes, bundle_size(source).edges) == (42, 15)


def test_a_large_file_is_guessed_from_its_head(tmp_path: Path) -> None:
    many = [{"id": f"n{at}", "type": "film", "name": f"Film {at * 7919 % 100_003}"} for at in range(100_000)]
    bundles.write(tmp_path, many, EDGES)
    plain = (tmp_path / "nodes.jsonl").read_bytes()
    assert len(plain) > 2 * HEAD_BYTES
    assert bundle_size(tmp_path).nodes == pytest.approx(100_000, rel=0.03)
    (tmp_path / "nodes.jsonl").unlink()
    (tmp_path / "nodes.jsonl.gz").write_bytes(gzip.compress(plain))
    assert bundle_size(tmp_path).nodes == pytest.approx(100_000, rel=0.1)


@pytest.mark.parametrize("harm", ["no nodes", "damaged", "no manifest", "no JSON"])
def test_a_bundle_that_cannot_be_read_has_no_size(tmp_path: Path, harm: str) -> None:
    bundles.write(tmp_path, compression=".gz")
    if harm == "no nodes":
        (tmp_path / "nodes.jsonl.gz").unlink()
    elif harm == "damaged":
        (tmp_path / "nodes.jsonl.gz").write_bytes(b"nothing that gzip knows")
    elif harm == "no manifest":
        (tmp_path / "kb.json").unlink()
    else:
        (tmp_path / "kb.json").write_text(json.dumps([1])[:-1])
    assert bundle_size(tmp_path) == Size()


def test_what_is_larger_takes_longer_and_needs_more() -> None:
    small, large = Size(10_000, 30_000, 3_000_000), Size(20_000, 60_000, 6_000_000)
    assert set(index_parts(small)) < set(import_parts(small))
    for part, seconds in import_parts(small).items():
        assert 0 < seconds < import_parts(large)[part]
    less, more = import_needs(small, 384), import_needs(large, 384)
    assert less.disk < more.disk
    assert less.memory < more.memory
    assert import_needs(small, 384, index=False).disk < less.disk
    assert import_needs(Size(), 384).disk == 0 == Needs().disk


def test_with_an_object_store_an_import_ends_with_the_sending_of_its_files(settings: Settings) -> None:
    small, large = Size(10_000, 30_000, 3_000_000), Size(20_000, 60_000, 6_000_000)
    assert SEND not in import_parts(small)
    settings.GRASP_INDEX_STORE = "s3://bucket"
    assert list(import_parts(small))[-1] == SEND
    assert 0 < import_parts(small)[SEND] < import_parts(large)[SEND]
