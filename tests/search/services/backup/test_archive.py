"""The file of a backup: it goes on where it was cut off, and says in a sentence what is wrong with it."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path

import pytest
import zstandard

from search.services.backup.archive import FORMAT, GREETING, MANIFEST, ArchiveReader, Writer
from search.services.backup.errors import BackupError

LASTING = {"files/a": "1", "files/b": "1", "files/c": "1"}
WANTED = {GREETING: "", **LASTING}


def written(path: Path, content: Mapping[str, bytes]) -> str:
    """Write an archive with these members, and return its fingerprint."""
    with Writer(path, "here") as writer:
        writer.begin({})
        for name, body in content.items():
            writer.add(name, "1", [body[:3], body[3:]])
        return writer.finish({"made": "today"})


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    path = tmp_path / "backup"
    written(path, {"files/a": b"some text " * 1000, "files/ä" + "long" * 60: b"", "rows/b": bytes(range(256)) * 40})
    return path


def test_what_was_written_is_read_and_other_programs_read_it_too(archive: Path) -> None:
    with ArchiveReader(archive) as reader:
        assert reader.manifest["made"] == "today"
        found = {member.name: b"".join(reader.unpacked(member)) for member in reader.members}
    assert found["files/a"] == b"some text " * 1000
    assert found["rows/b"] == bytes(range(256)) * 40
    with tarfile.open(archive) as tar:
        assert tar.getnames()[0] == GREETING
        assert tar.getnames()[-1] == MANIFEST
        packed = tar.extractfile("files/a")
        assert packed is not None
        assert zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed.read())).read() == found["files/a"]
    assert archive.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in archive.parent.iterdir()] == ["backup"]


def interrupted(path: Path, origin: str = "here") -> None:
    """Leave what a process leaves that was killed while it wrote the third member."""
    with Writer(path, origin) as writer:
        writer.begin(WANTED)
        writer.add("files/a", "1", [b"a" * 5000])
        writer.add("files/b", "1", [b"b" * 5000])
        writer.save()
        writer.add("files/c", "1", [b"c" * 5000])
        with writer.partial.open("ab") as torn:
            torn.write(b"torn" * 1000)


@pytest.mark.parametrize(
    ("origin", "wanted", "kept"),
    [
        ("here", WANTED, 3),
        ("here", {**WANTED, "files/b": "2"}, 2),  # b has changed, so it and what follows is written again
        ("elsewhere", WANTED, 0),  # the rest of another site's backup
    ],
)
def test_a_second_attempt_keeps_what_is_safe_and_unchanged(
    tmp_path: Path, origin: str, wanted: dict[str, str], kept: int
) -> None:
    path = tmp_path / "backup"
    interrupted(path)
    with Writer(path, origin) as writer:
        assert writer.begin(wanted) == kept
        for name in sorted(LASTING.keys() - writer.names):
            writer.add(name, wanted[name], [name[-1].encode() * 5000])
        writer.finish({})
    with ArchiveReader(path) as reader:
        found = {member.name: b"".join(reader.unpacked(member)) for member in reader.members}
    assert found == {f"files/{letter}": letter.encode() * 5000 for letter in "abc"}


def test_two_processes_do_not_write_the_same_backup(tmp_path: Path) -> None:
    with (
        Writer(tmp_path / "backup", "here"),
        pytest.raises(BackupError, match="Another process is writing"),
        Writer(tmp_path / "backup", "here"),
    ):
        pass


def test_a_file_cut_off_anywhere_says_so(archive: Path, tmp_path: Path) -> None:
    whole = archive.read_bytes()
    with ArchiveReader(archive) as reader:
        end = reader.members[-1].offset
    cut = tmp_path / "cut"
    for length in (513, 1024, 2000, end, end + 10, len(whole) - 3000):
        cut.write_bytes(whole[:length])
        with pytest.raises(BackupError, match="cut off"), ArchiveReader(cut):
            pass


@pytest.mark.parametrize("content", [b"", b"hello", b"\x1f\x8b" + bytes(2000), bytes(4096)])
def test_a_file_of_another_kind_says_so(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(BackupError, match="is no backup of GRASP search"), ArchiveReader(tmp_path / "file"):
        pass


def test_an_archive_of_another_kind_and_a_folder_say_so(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "other.tar", "w") as tar:
        tar.add(__file__, "file.py")
    with pytest.raises(BackupError, match="is no backup of GRASP search"), ArchiveReader(tmp_path / "other.tar"):
        pass
    with pytest.raises(BackupError, match="cannot be read"), ArchiveReader(tmp_path):
        pass


def test_a_changed_byte_is_found_wherever_it_is(archive: Path) -> None:
    whole = archive.read_bytes()
    with ArchiveReader(archive) as reader:
        places = [member.offset + member.bytes // 2 for member in reader.members if member.bytes]
    for place in places:
        archive.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with ArchiveReader(archive) as reader, pytest.raises(BackupError, match="damaged or was changed"):
            reader.check(lambda done: None)


def test_a_newer_format_says_which_version_reads_it(archive: Path) -> None:
    changed = archive.read_bytes().replace(f'"format": {FORMAT},'.encode(), f'"format": {FORMAT + 8},'.encode())
    archive.write_bytes(changed)
    with pytest.raises(BackupError, match="newer version of GRASP search"), ArchiveReader(archive):
        pass


def test_the_fingerprint_is_that_of_the_manifest(archive: Path, tmp_path: Path) -> None:
    told = written(tmp_path / "second", {"files/a": b"x"})
    with ArchiveReader(tmp_path / "second") as reader:
        assert reader.fingerprint == told
        assert json.loads(json.dumps(reader.manifest))["members"][0]["name"] == "files/a"
