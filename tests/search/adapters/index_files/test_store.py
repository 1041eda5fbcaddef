"""Files go to an object store and come back: a real server that speaks S3, and a folder."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from search.adapters.index_files import source as places
from search.adapters.index_files import store as stores
from search.adapters.index_files.fetch import fetch_folder
from search.adapters.index_files.listing import listed
from search.adapters.index_files.source import BuiltFile
from search.adapters.index_files.store import ObjectStore, StoreFailed, object_name
from tests.conftest import PROJECT
from tests.guarded import guarded
from tests.s3_server import SECRET, S3Server

NAME = "indexes/snapshot-1/part"
CONTENT = {"keys.npy": bytes(range(256)) * 4, "field-0/data.bin": b"d" * 70, "empty.bin": b""}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The folder on the machine that built it."""
    folder = tmp_path / "builder" / NAME
    for name, content in CONTENT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """The server, and this process with its address and credentials."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    forget_credentials()
    yield s3_server
    forget_credentials()


def forget_credentials() -> None:
    """Let the next store read credentials anew; a process keeps those that it began with."""
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def files_of(folder: Path) -> list[tuple[Path, BuiltFile]]:
    return [
        (folder / name, BuiltFile(f"{NAME}/{name}", length, digest))
        for name, (length, digest) in listed(folder).items()
    ]  # fmt: skip


@pytest.fixture(params=["s3", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """A store that has nothing yet."""
    if request.param == "file":
        return ObjectStore(f"file://{tmp_path}/store/")
    request.getfixturevalue("s3").bucket(tmp_path.name.replace("_", "-").lower())
    return ObjectStore(f"s3://{tmp_path.name.replace('_', '-').lower()}/site/")


def test_what_was_sent_is_listed_fetched_and_removed(store: ObjectStore, built: Path, tmp_path: Path) -> None:
    assert store.lengths("indexes") == {}
    files = files_of(built)
    for path, file in files:
        store.send(path, file)
    assert store.lengths("indexes") == {object_name(file): file.length for _, file in files}
    assert store.lengths("indexes/snapshot-1") == store.lengths("indexes")
    assert store.lengths("indexes/snapshot-2") == {}
    here = tmp_path / "here" / NAME
    fetch_folder(here, NAME, listed(built), store)
    assert {name: (here / name).read_bytes() for name in CONTENT} == CONTENT
    keys = next(file for _, file in files if file.name.endswith("keys.npy"))
    store.remove([object_name(keys)])
    assert object_name(keys) not in store.lengths("indexes")
    with pytest.raises(StoreFailed, match=rf"does not have {keys.name}$"):
        store.piece(keys, 0)


def test_a_piece_is_read_by_its_range(store: ObjectStore, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "PIECE", 100)
    [(path, file)] = [pair for pair in files_of(built) if pair[0].name == "keys.npy"]
    store.send(path, file)
    content = CONTENT["keys.npy"]
    assert store.piece(file, 0) == content[:100]
    assert store.piece(file, 950) == content[950:1024]


CHILD = """
import sys, time
from pathlib import Path
import django
django.setup()
from search.adapters.index_files import source
from search.adapters.index_files.fetch import fetch_folder
from search.adapters.index_files.store import ObjectStore

source.PIECE = 1000

class Stuck:
    def __init__(self, store):
        self.store = store
    def piece(self, file, begin):
        if begin >= 3000:
            time.sleep(600)
        return self.store.piece(file, begin)

name, url, here, length, digest = sys.argv[1:]
fetch_folder(Path(here), name, {"large.bin": (int(length), digest)}, Stuck(ObjectStore(url)))
"""


def test_a_fetch_that_was_killed_goes_on_within_a_file(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s3.bucket("killed")
    folder, here = tmp_path / "builder" / NAME, tmp_path / "here" / NAME
    folder.mkdir(parents=True)
    (folder / "large.bin").write_bytes(bytes(index * 7 % 251 for index in range(9_500)))
    [(path, file)] = files_of(folder)
    store = ObjectStore("s3://killed/site")
    store.send(path, file)

    child = guarded(
        [sys.executable, "-c", textwrap.dedent(CHILD), NAME, str(store), str(here), str(file.length), file.digest],
        cwd=PROJECT, stderr=subprocess.PIPE,
    )  # fmt: skip
    part = here.parent / ".part.fetched" / f".large.bin.{file.digest[:16]}.part"
    deadline = time.monotonic() + 120
    while not (part.exists() and part.stat().st_size == 3000):
        assert child.poll() is None, child.communicate()[1].decode()
        assert time.monotonic() < deadline, "nothing has arrived"
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert not here.exists()

    class Counted:
        """The store, and what it was asked for (Source)."""

        begins: list[int] = []

        def piece(self, file: BuiltFile, begin: int) -> bytes:
            self.begins.append(begin)
            return store.piece(file, begin)

    monkeypatch.setattr(places, "PIECE", 1000)
    fetch_folder(here, NAME, listed(folder), Counted())
    assert sorted(Counted.begins) == [3000, 4000, 5000, 6000, 7000, 8000, 9000]
    assert (here / "large.bin").read_bytes() == path.read_bytes()


def test_a_store_that_is_away_and_one_that_refuses_say_so_without_credentials(
    s3: S3Server, built: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    s3.bucket("refusing")
    path, file = files_of(built)[0]
    # The site keeps these loggers at WARNING; here they tell all that they have to tell.
    for name in ("aiobotocore", "botocore", "s3fs", "fsspec"):
        caplog.set_level("DEBUG", logger=name)
    ObjectStore("s3://refusing/site").send(path, file)

    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret-that-no-log-may-have")
    forget_credentials()
    with pytest.raises(StoreFailed, match="s3://refusing/site refuses the credentials of this machine"):
        ObjectStore("s3://refusing/site").piece(file, 0)

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    forget_credentials()
    with pytest.raises(StoreFailed, match=r"s3://refusing/site cannot be used \(Could not connect") as away:
        ObjectStore("s3://refusing/site").lengths("indexes")
    with pytest.raises(StoreFailed, match=r"none://x cannot be used \(Protocol not known: none\)"):
        ObjectStore("none://x").lengths("indexes")

    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        monkeypatch.setattr(stores, "ANSWER_SECONDS", 0.5)
        forget_credentials()
        with pytest.raises(StoreFailed, match="s3://refusing/site does not answer"):
            ObjectStore("s3://refusing/site").piece(file, 0)

    assert caplog.text
    assert SECRET not in caplog.text + str(away.value)
    assert "another-secret" not in caplog.text + str(away.value)
