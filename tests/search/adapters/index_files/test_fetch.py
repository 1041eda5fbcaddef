"""Folders of index files are checked against their lists, and fetched whole or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from search.adapters.index_files import source as places
from search.adapters.index_files.fetch import BUILDING, FetchRuns, fetch_folder, locked
from search.adapters.index_files.listing import fault_of, fingerprint, listed
from search.adapters.index_files.source import BuiltFile, FetchFailed, FolderSource

NAME = "indexes/snapshot-1/part"
CONTENT = {"keys.npy": b"k" * 300, "field-0/data.bin": b"d" * 70, "part.json": b"{}"}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The folder on the machine that built it."""
    folder = tmp_path / "builder" / NAME
    for name, content in CONTENT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """The folder on this machine, which is not there yet."""
    return tmp_path / "here" / NAME


def source_of(built: Path) -> FolderSource:
    return FolderSource(built.parents[2])


def test_the_list_has_lengths_and_hashes(built: Path) -> None:
    files = listed(built)
    assert {name: length for name, (length, _) in files.items()} == {
        "keys.npy": 300, "field-0/data.bin": 70, "part.json": 2,
    }  # fmt: skip
    # Computed by `printf '{}' | sha256sum`.
    assert files["part.json"][1] == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert fingerprint(files) == fingerprint(dict(reversed(list(files.items()))))
    assert fingerprint(files) != fingerprint({**files, "part.json": (3, files["part.json"][1])})


def test_a_folder_is_fetched_whole(built: Path, here: Path) -> None:
    files = listed(built)
    assert fault_of(here, files) == "missing"
    fetch_folder(here, NAME, files, source_of(built))
    assert listed(here) == files
    assert fault_of(here, files) == ""
    assert sorted(path.name for path in here.parent.iterdir()) == [
        ".building", ".part.checked", ".part.lock", "part",
    ]  # fmt: skip


def test_every_kind_of_damage_is_noticed_and_put_right(built: Path, here: Path) -> None:
    files = listed(built)
    fetch_folder(here, NAME, files, source_of(built))
    old = here / "keys.npy"
    damages = (
        (lambda: old.write_bytes(b"k" * 299), "keys.npy has 299 bytes instead of 300"),
        (lambda: old.write_bytes(b"K" * 300), "keys.npy is not what was built"),
        (old.unlink, "keys.npy is missing"),
    )
    for damage, told in damages:
        damage()
        assert fault_of(here, files) == told
        fetch_folder(here, NAME, files, source_of(built))
        assert listed(here) == files


def test_damage_that_keeps_length_and_time_is_found_by_reading_every_byte(built: Path) -> None:
    files, keys = listed(built), built / "keys.npy"
    assert fault_of(built, files) == ""
    was = keys.stat()
    keys.write_bytes(b"K" * 300)
    os.utime(keys, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert fault_of(built, files) == ""
    assert fault_of(built, files, deep=True) == "keys.npy is not what was built"


def test_the_same_lengths_under_another_list_are_compared_again(built: Path) -> None:
    files = listed(built)
    assert fault_of(built, files) == ""
    of_another_database = {**files, "keys.npy": (300, "0" * 64)}
    assert fault_of(built, of_another_database) == "keys.npy is not what was built"


def test_a_source_that_is_damaged_itself_is_refused_and_nothing_is_half_there(built: Path, here: Path) -> None:
    files = listed(built)
    (built / "keys.npy").write_bytes(b"x" * 300)
    with pytest.raises(FetchFailed, match=r"keys\.npy of .* is not what was built"):
        fetch_folder(here, NAME, files, source_of(built))
    assert not here.exists()
    (built / "keys.npy").unlink()
    with pytest.raises(FetchFailed, match="cannot be read"):
        fetch_folder(here, NAME, files, source_of(built))


class Cut:
    """A source whose connection ends behind so many bytes of one of the files (Source)."""

    def __init__(self, source: FolderSource, within: str, after: int = 0) -> None:
        self._source = source
        self._within = within
        self._after = after
        self.asked: list[tuple[str, int]] = []

    def piece(self, file: BuiltFile, begin: int) -> bytes:
        """Return a piece, or fail."""
        self.asked.append((file.name.removeprefix(f"{NAME}/"), begin))
        if file.name.endswith(self._within) and begin >= self._after:
            raise FetchFailed("the connection ended")
        return self._source.piece(file, begin)


def test_a_fetch_that_was_cut_off_goes_on_behind_what_has_arrived(
    built: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "PIECE", 100)
    files = listed(built)
    with pytest.raises(FetchFailed, match="the connection ended"):
        fetch_folder(here, NAME, files, Cut(source_of(built), "keys.npy", after=200))
    assert not here.exists()
    second = Cut(source_of(built), "nothing")
    fetch_folder(here, NAME, files, second)
    # field-0/data.bin has arrived whole, and of keys.npy two of three pieces.
    assert sorted(second.asked) == [("keys.npy", 200), ("part.json", 0)]
    assert listed(here) == files


def test_what_has_arrived_of_another_content_is_not_continued(
    built: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "PIECE", 100)
    with pytest.raises(FetchFailed, match="the connection ended"):
        fetch_folder(here, NAME, listed(built), Cut(source_of(built), "keys.npy", after=200))
    (built / "keys.npy").write_bytes(b"n" * 300)
    files = listed(built)
    fetch_folder(here, NAME, files, source_of(built))
    assert listed(here) == files
    assert not [path for path in here.rglob(".*") if path.is_file()]


def test_a_file_arrives_in_order_though_later_pieces_are_answered_first(
    built: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first piece is held back until another thread has got a later one."""
    monkeypatch.setattr(places, "PIECE", 10)
    (built / "keys.npy").write_bytes(bytes(range(200)))
    source, later = source_of(built), Event()

    class Held:
        def piece(self, file: BuiltFile, begin: int) -> bytes:
            if file.name.endswith("keys.npy"):
                assert begin != 0 or later.wait(30)
                if begin == 20:
                    later.set()
            return source.piece(file, begin)

    files = listed(built)
    fetch_folder(here, NAME, files, Held())
    assert listed(here) == files


def test_what_is_being_built_is_not_fetched(built: Path, here: Path) -> None:
    here.parent.mkdir(parents=True)
    with locked(here.parent / BUILDING), pytest.raises(FetchRuns):
        fetch_folder(here, NAME, listed(built), source_of(built))
    fetch_folder(here, NAME, listed(built), source_of(built))


def test_two_processes_do_not_fetch_the_same_folder(built: Path, here: Path) -> None:
    here.parent.mkdir(parents=True)
    with (here.parent / ".part.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(FetchRuns):
            fetch_folder(here, NAME, listed(built), source_of(built))


def test_one_who_has_time_waits_for_the_fetch_of_another(built: Path, here: Path) -> None:
    """A search that meets a fetch is answered after it, from the files that the other one has brought."""
    here.parent.mkdir(parents=True)
    files, source = listed(built), source_of(built)
    asked = Event()

    def waiting() -> None:
        asked.set()
        fetch_folder(here, NAME, files, source, arrived.append, wait=20.0)

    arrived: list[int] = []
    with ThreadPoolExecutor(1) as pool, (here.parent / ".part.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        other = pool.submit(waiting)
        asked.wait(10)
        shutil.copytree(built, here)
        assert not other.done()
        fcntl.flock(lock, fcntl.LOCK_UN)
        other.result(20)
    assert arrived == []
    assert not fault_of(here, files)
