"""Archives that lie about sizes, numbers, paths and contents are refused; honest ones are unpacked as they are."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import struct
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import zstandard

from search.ingest.unpack.limits import Limits, UnpackRefused
from search.ingest.unpack.unpack import Received, Unpacked, unpack

ROWS = b"id,name\n1,Ada\n"


def unpacked(path: Path, limits: Limits = Limits(), sha256: str = "") -> tuple[Unpacked, Path]:  # noqa: B008
    folder = path.parent / "content"
    return unpack([Received(path.name, path, sha256)], folder, limits, lambda done: None), folder


def zipped(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return path


def tarred(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def refused(path: Path, *words: str, limits: Limits = Limits()) -> None:  # noqa: B008
    """The upload is refused by a sentence with these words, and nothing of it remains."""
    with pytest.raises(UnpackRefused) as error:
        unpacked(path, limits)
    for word in words:
        assert word in str(error.value)
    assert not (path.parent / "content").exists()


def as_zip(folder: Path) -> Path:
    return zipped(folder / "a.zip", {"data/rows.csv": ROWS, "data/README.md": b"read me", "__MACOSX/._rows.csv": b"\0"})


def as_tar(folder: Path) -> Path:
    return tarred(folder / "a.tar", (member("data", tarfile.DIRTYPE), b""), (member("data/rows.csv"), ROWS),
                  (member("data/README.md"), b"read me"))  # fmt: skip


def as_tgz(folder: Path) -> Path:
    path = folder / "a.tgz"
    path.write_bytes(gzip.compress(as_tar(folder).read_bytes()))
    return path


def as_tar_zst(folder: Path) -> Path:
    path = folder / "a.tar.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(as_tar(folder).read_bytes()))
    return path


@pytest.mark.parametrize("write", [as_zip, as_tar, as_tgz, as_tar_zst])
def test_an_archive_gives_its_files_of_rows(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path)
    found, folder = unpacked(path)
    assert (found.files, found.bytes) == (["data/rows.csv"], len(ROWS))
    assert "data/README.md" in found.left_out
    assert [str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()] == ["data/rows.csv"]
    assert (folder / "data" / "rows.csv").read_bytes() == ROWS
    assert found.sha256 == {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}


def test_single_files_are_taken_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(ROWS)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(ROWS))
    received = [Received(name, tmp_path / name) for name in ("a.csv", "b.csv.gz")]
    found = unpack(received, tmp_path / "content", Limits(), lambda done: None)
    assert found.files == ["a.csv", "b.csv.gz"]


@pytest.mark.parametrize("name", ["../rows.csv", "/etc/rows.csv", "a/../../rows.csv", "C:/rows.csv", "a\\..\\rows.csv"])
def test_paths_that_lead_out_are_refused(name: str, tmp_path: Path) -> None:
    # `zipfile` would read a name up to a NUL only; on Linux it keeps backslashes.
    refused(zipped(tmp_path / "a.zip", {name: ROWS}), "a.zip holds", "path" if "\\" in name else "leads out")
    refused(tarred(tmp_path / "a.tar", (member(name), ROWS)), "a.tar holds")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.tar", "a.zip"]


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "a device"),
        (tarfile.FIFOTYPE, "a device"),
    ],
)
def test_links_and_devices_in_a_tar_are_refused(kind: bytes, what: str, tmp_path: Path) -> None:
    refused(tarred(tmp_path / "a.tar", (member("rows.csv", kind, "/etc/passwd"), b"")), "rows.csv", what)


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("rows.csv")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "/etc/passwd")
    refused(tmp_path / "a.zip", "rows.csv", "a link")


def test_two_files_of_the_same_path_are_refused(tmp_path: Path) -> None:
    refused(tarred(tmp_path / "a.tar", (member("rows.csv"), ROWS), (member("./rows.csv"), ROWS)), "the path 'rows.csv'")
    refused(tarred(tmp_path / "b.tar", (member("x.csv"), ROWS), (member("x.csv/y.csv"), ROWS)), "x.csv/y.csv")


def test_bombs_are_refused_while_they_unpack(tmp_path: Path) -> None:
    zeros = bytes(40 << 20)
    refused(zipped(tmp_path / "a.zip", {"rows.csv": zeros}), "200 times its size")
    (tmp_path / "b.tar.gz").write_bytes(
        gzip.compress(tarred(tmp_path / "b.tar", (member("rows.csv"), zeros)).read_bytes())
    )
    refused(tmp_path / "b.tar.gz", "200 times its size")
    (tmp_path / "rows.csv.zst").write_bytes(zstandard.ZstdCompressor().compress(b"a,b\n" * (10 << 20)))
    refused(tmp_path / "rows.csv.zst", "200 times its size")
    refused(zipped(tmp_path / "c.zip", {"rows.csv.gz": gzip.compress(b"a,b\n" * (10 << 20))}), "rows.csv.gz unpacks")
    refused(zipped(tmp_path / "d.zip", {"rows.csv": os.urandom(3 << 20).hex().encode()}), "more than 1 MB",
            limits=Limits(size=1 << 20))  # fmt: skip


def test_the_limit_of_the_size_holds_for_all_files_together(tmp_path: Path) -> None:
    received = []
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_bytes(b"x,y\n" * 200_000)
        received.append(Received(name, tmp_path / name))
    with pytest.raises(UnpackRefused, match=r"b\.csv unpacks to more than 1 MB"):
        unpack(received, tmp_path / "content", Limits(size=1 << 20), lambda done: None)


def test_a_zip_that_lies_about_a_size_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"rows.csv": b"x,y\n" * 5_000})
    content = path.read_bytes()
    real, lie = struct.pack("<L", 20_000), struct.pack("<L", 10)
    assert content.count(real) == 2
    path.write_bytes(content.replace(real, lie))
    refused(path, "a.zip is")


def directory_of(count: int, path: Path, *, stated: int | None = None) -> Path:
    """Write a zip whose directory lists so many empty files; `stated` is the number that its end states."""
    name = b"a" * 8
    entry = (
        struct.pack("<4s4B4HL2L5H2L", b"PK\x01\x02", 20, 3, 20, 0, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0)
        + name
    )
    block = entry * 10_000
    size = len(entry) * count
    told = count if stated is None else stated
    with path.open("wb") as file:
        file.write(b"PK\x03\x04")
        for _ in range(count // 10_000):
            file.write(block)
        file.write(struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, told, told, size, 4))
        file.write(struct.pack("<4sLQL", b"PK\x06\x07", 0, 4 + size, 1))
        file.write(struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    return path


@pytest.mark.parametrize("stated", [None, 3])
def test_ten_million_files_in_a_directory_are_refused_at_once_and_without_memory(
    stated: int | None, tmp_path: Path
) -> None:
    path = directory_of(10_000_000, tmp_path / "many.zip", stated=stated)
    assert path.stat().st_size > 500_000_000
    # A process of its own, because the peak of memory of this one is that of all tests before.
    code = (
        "import resource, sys, time; from pathlib import Path\n"
        "from search.ingest.unpack.limits import Limits, UnpackRefused\n"
        "from search.ingest.unpack.archives import entries; from search.ingest.unpack.limits import Meter\n"
        "path = Path(sys.argv[1]); began = time.process_time()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: list(entries(path, path.name, Meter(Limits(), path.stat().st_size, path.name)))\n"
        "except UnpackRefused as error: print(error)\n"
        "print(time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    sentence, figures = done.stdout.splitlines()
    seconds, kilobytes = map(float, figures.split())
    assert "more than 10,000 files" in sentence
    assert kilobytes < 20_000
    assert seconds < 5


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    entries = {f"{number}.csv": ROWS for number in range(6)}
    refused(zipped(tmp_path / "a.zip", entries), "more than 5 files", limits=Limits(files=5))
    members = [(member(f"{number}/", tarfile.DIRTYPE), b"") for number in range(6)]
    refused(tarred(tmp_path / "a.tar", *members), "more than 5 files", limits=Limits(files=5))


def test_a_tar_header_without_end_does_not_fill_the_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("rows.csv")
    info.pax_headers = {"comment": "x" * (2 << 20)}
    refused(tarred(tmp_path / "a.tar", (info, ROWS)), "a header of more than 1 MB")


WRONG = [
    ("a.zip", b"no zip at all", "no zip archive"),
    ("a.tar.gz", gzip.compress(ROWS, mtime=0), "no tar archive"),
    ("a.tar", ROWS, "no tar archive"),
    ("a.csv.gz", ROWS, "not packed with gz"),
    ("a.csv.gz", gzip.compress(Random(0).randbytes(20_000).hex().encode(), mtime=0)[:9_000], "damaged"),
    ("a.parquet", ROWS, "no Parquet file"),
    ("a.csv", b"PAR1xxxx", "a Parquet file"),
    ("a.csv", b"\x7fELF\x02\x01", "a program"),
    ("a.csv", b"%PDF-1.7", "a PDF"),
    ("a.csv", b"\x80\x04\x95data", "a Python pickle"),
    ("a.csv", b"id,name\n1,\0\0\n", "no text"),
    ("a.csv", b"<!DOCTYPE html>", "a web page"),
    ("a.csv", b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    ("notes.md", b"# nothing", "no file of rows"),
]


@pytest.mark.parametrize(("name", "content", "sentence"), WRONG, ids=[sentence for *_, sentence in WRONG])
def test_what_is_not_what_its_name_says_is_refused(name: str, content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    refused(tmp_path / name, name, sentence) if "rows" not in sentence else refused(tmp_path / name, sentence)


def test_archives_in_archives_are_refused(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "inner.zip", {"rows.csv": ROWS}).read_bytes()
    refused(zipped(tmp_path / "a.zip", {"rows.csv": ROWS, "inner.zip": inner}), "inner.zip", "inside the upload")
    refused(zipped(tmp_path / "b.zip", {"rows.csv": inner}), "a zip archive inside the upload")
    tar = gzip.compress(tarred(tmp_path / "t.tar", (member("rows.csv"), ROWS)).read_bytes())
    refused(zipped(tmp_path / "c.zip", {"rows.csv.gz": tar}), "a tar archive inside the upload")


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"rows.csv": os.urandom(5_000).hex().encode()})
    content = bytearray(path.read_bytes())
    content[2_000:2_100] = bytes(100)
    path.write_bytes(content)
    refused(path, "a.zip is")


def test_a_password_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"rows.csv": ROWS})
    content = bytearray(path.read_bytes())
    content[6] |= 1
    content[content.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(content)
    refused(path, "needs a password")


def test_starks_pickles_are_refused_with_the_way_to_convert_them(tmp_path: Path) -> None:
    entries = {"processed/node_info.pkl": b"\x80\x04.", "processed/edge_index.pt": b"PK\x03\x04"}
    refused(zipped(tmp_path / "prime.zip", entries), "convert_stark")


def test_a_stated_checksum_is_compared(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(ROWS)
    unpacked(tmp_path / "a.csv", sha256=hashlib.sha256(ROWS).hexdigest())
    (tmp_path / "b.csv").write_bytes(ROWS)
    with pytest.raises(UnpackRefused, match="not received as it was sent"):
        unpack([Received("b.csv", tmp_path / "b.csv", "0" * 64)], tmp_path / "other", Limits(), lambda done: None)


def test_a_cancelled_unpacking_leaves_nothing(tmp_path: Path) -> None:
    class Cancelled(Exception):
        pass

    def cancel() -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        unpack([Received("a.zip", as_zip(tmp_path))], tmp_path / "content", Limits(), lambda done: None, cancel)
    assert not (tmp_path / "content").exists()
