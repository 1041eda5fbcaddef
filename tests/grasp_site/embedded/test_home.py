import os
import shutil
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

import psycopg
import pytest

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import PROJECT, SOCKET_PATH_LIMIT, Home
from grasp_site.embedded.lease import acquire
from grasp_site.embedded.postgres import ROLE_MADE
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


def test_only_the_way_to_the_database_is_open_to_other_accounts(home: Home) -> None:
    inner = Home(home.root / "a" / "b" / "home")
    assert oct(inner.make_folder("logs").stat().st_mode)[-3:] == "700"
    assert oct(inner.root.stat().st_mode)[-3:] == "711"
    assert oct(inner.root.parent.stat().st_mode)[-3:] == "755"
    inner.logs.chmod(0o755)
    assert oct(inner.make_folder("logs").stat().st_mode)[-3:] == "700"


def test_what_an_earlier_version_left_open_is_closed_and_the_database_stays_as_it_is(home: Home) -> None:
    for name in ("indexes/7/text", "uploads/x", "backups", "postgres/data", "run", "kept"):
        (home.root / name).mkdir(parents=True)
    for name in ("indexes/7/text/words", "uploads/x/rows.csv", "backups/a.grasp", "demo-loaded", "kept/program"):
        (home.root / name).write_text("x")
        (home.root / name).chmod(0o644)
    (home.root / "kept" / "program").chmod(0o755)
    for folder in home.root.rglob("*"):
        if folder.is_dir():
            folder.chmod(0o755)
    outside = home.root / "postgres" / "data" / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    (home.root / "uploads" / "link").symlink_to(outside)
    (home.root / "linked").symlink_to(home.root / "postgres")
    home.close()
    modes = {str(path.relative_to(home.root)): oct(path.stat().st_mode)[-3:] for path in home.root.rglob("*")
             if not path.is_symlink()}  # fmt: skip
    assert modes == {
        "indexes": "700", "indexes/7": "700", "indexes/7/text": "700", "indexes/7/text/words": "600",
        "uploads": "700", "uploads/x": "700", "uploads/x/rows.csv": "600", "backups": "700", "backups/a.grasp": "600",
        "demo-loaded": "600", "kept": "700", "kept/program": "700",
        "postgres": "755", "postgres/data": "755", "postgres/data/outside": "644", "run": "755",
    }  # fmt: skip
    home.close()


def test_a_process_of_the_site_makes_files_for_its_own_account_alone(tmp_path: Path) -> None:
    script = "import pathlib, sys, grasp_site.settings; p = pathlib.Path(sys.argv[1]); p.mkdir(); (p / 'x').touch()"
    made = tmp_path / "made"
    environment = {**os.environ, "GRASP_HOME": str(tmp_path / "home"), "DJANGO_SETTINGS_MODULE": "grasp_site.settings"}
    subprocess.run([sys.executable, "-c", script, str(made)], check=True, env=environment, cwd=PROJECT, umask=0o022)
    assert [oct(path.stat().st_mode)[-3:] for path in (made, made / "x")] == ["700", "600"]


ROLE = (
    "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls FROM pg_roles "
    "WHERE rolname = current_user"
)


def test_the_site_owns_its_database_and_is_no_superuser(home: Home) -> None:
    lease = acquire(home, ["postgres"])
    try:
        with psycopg.connect(home.database_url, autocommit=True) as session:
            assert session.execute(ROLE).fetchone() == ("grasp", False, False, False, False, False)
            session.execute("CREATE EXTENSION IF NOT EXISTS vector")
            session.execute("CREATE TABLE t (id int, v halfvec) PARTITION BY LIST (id)")
            session.execute("CREATE TABLE t_1 (LIKE t)")
            session.execute("ALTER TABLE t ATTACH PARTITION t_1 FOR VALUES IN (1)")
            session.execute("CREATE SCHEMA another")
            for forbidden in (
                "COPY t FROM PROGRAM 'echo 1'", "SELECT pg_read_file('/etc/passwd')", "ALTER SYSTEM SET fsync = off",
                "CREATE ROLE another SUPERUSER", "ALTER ROLE grasp SUPERUSER", "SET ROLE app",
                "COPY t TO '/tmp/grasp-out'", "SELECT lo_import('/etc/passwd')", "CREATE DATABASE another",
            ):  # fmt: skip
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    session.execute(forbidden)
    finally:
        lease.close()


def test_a_home_whose_tables_belong_to_the_superuser_is_handed_over_at_the_next_start(home: Home) -> None:
    lease = acquire(home, ["postgres"])
    with psycopg.connect(home.superuser_url, autocommit=True) as session:
        # As an earlier version left it: one role, which owns everything.
        session.execute("ALTER DATABASE grasp OWNER TO app")
        session.execute("DROP OWNED BY grasp")
        session.execute("DROP ROLE grasp")
        session.execute("CREATE TABLE rows (id bigserial PRIMARY KEY, at int GENERATED ALWAYS AS IDENTITY, v halfvec)")
        session.execute("CREATE TABLE parts (id int, v vector) PARTITION BY LIST (id)")
        session.execute('CREATE TABLE "Part 1" PARTITION OF parts FOR VALUES IN (1)')
        session.execute("CREATE INDEX ON rows USING hnsw ((v::halfvec(3)) halfvec_cosine_ops)")
        session.execute("CREATE VIEW seen AS SELECT id FROM rows")
        session.execute("CREATE MATERIALIZED VIEW kept AS SELECT id FROM rows")
        session.execute("CREATE SEQUENCE loose")
        session.execute("CREATE TYPE mood AS ENUM ('good')")
        session.execute("CREATE SCHEMA grasp_restore")
        session.execute("CREATE TABLE grasp_restore.restored_parts (part text)")
        session.execute("CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS 'SELECT 2 * n'")
        session.execute("INSERT INTO rows (v) VALUES ('[1,2,3]')")
    lease.close()
    (home.postgres.resolve() / "data" / ROLE_MADE).unlink()
    lease = acquire(home, ["postgres"])
    try:
        with psycopg.connect(home.database_url, autocommit=True) as session:
            assert session.execute(ROLE).fetchone() == ("grasp", False, False, False, False, False)
            assert session.execute("SELECT id, v::text FROM rows").fetchall() == [(1, "[1,2,3]")]
            session.execute("INSERT INTO rows (v) VALUES ('[3,2,1]')")
            for change in (
                "ALTER TABLE rows ADD COLUMN more int", 'ALTER TABLE parts DETACH PARTITION "Part 1"',
                'DROP TABLE "Part 1"', "DROP MATERIALIZED VIEW kept", "DROP VIEW seen", "DROP TABLE rows, parts",
                "DROP SEQUENCE loose", "DROP TYPE mood", "DROP FUNCTION twice", "DROP SCHEMA grasp_restore CASCADE",
            ):  # fmt: skip
                session.execute(change)
            assert session.execute("SELECT '[1,2]'::vector::text").fetchone() == ("[1,2]",)
    finally:
        lease.close()
