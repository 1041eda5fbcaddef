import os
import shutil
import tempfile
from collections import namedtuple
from pathlib import Path

import psycopg
import pytest

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import SOCKET_PATH_LIMIT, Home
from grasp_site.embedded.lease import acquire
from grasp_site.embedded.privileges import service_user

Usage = namedtuple("Usage", "total used free")


def test_a_relative_home_lies_in_the_projects_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRASP_HOME", "elsewhere")
    assert Home.from_environment().root == Path(__file__).resolve().parents[3] / "elsewhere"


def test_a_secret_is_made_once_and_closed_to_others(home: Home) -> None:
    first = home.secret("key")
    assert len(first) >= 40
    assert home.secret("key") == first
    assert oct((home.root / "secrets" / "key").stat().st_mode)[-3:] == "600"


def test_a_full_disk_gets_a_sentence_with_the_figures(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10 << 30, 10 << 30, 200 << 20))
    with pytest.raises(EmbeddedError, match=r"is full: 0\.2 GiB are free and at least 1 GiB are needed"):
        home.check_disk()


def test_a_home_with_a_long_path_gets_sockets_in_a_short_one(home: Home) -> None:
    deep = Home(home.root / ("d" * 60) / ("e" * 60))
    lease = acquire(deep, ["valkey"])
    assert len(str(deep.postgres_sockets / ".s.PGSQL.5432")) <= SOCKET_PATH_LIMIT
    assert lease.close() is True
    shutil.rmtree(deep.run)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has a folder that the user of Postgres cannot enter")
def test_as_root_below_a_closed_folder_the_database_lies_where_its_user_can_read_it(home: Home) -> None:
    closed = Path(tempfile.mkdtemp(prefix="closed-", dir=home.root))
    user = service_user()
    assert user is not None
    assert not user.can_enter(closed)
    inner = Home(closed / "home")
    said: list[str] = []
    lease = acquire(inner, ["postgres"], lambda message: said.append(message.get("text", "")))
    place = inner.postgres.resolve()
    try:
        assert any(str(place) in text for text in said)
        with psycopg.connect(inner.database_url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        lease.close()
        shutil.rmtree(place)
        shutil.rmtree(inner.run)
