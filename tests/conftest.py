"""Real Postgres and Valkey for all tests that need them: the embedded services in a temporary folder, started once."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import django
import pytest
from hypothesis import settings as hypothesis_settings
from xdist.remote import Producer

PROJECT = Path(__file__).resolve().parents[1]
SHARED_DATA = PROJECT.parent / "shared" / "data"
CHROMIUM = Path("/usr/bin/chromium")
# Not in pytest's temporary folder: as root, Postgres runs as another user, who cannot enter that folder.
TEST_HOME = Path(tempfile.mkdtemp(prefix="grasp-tests-", dir="/tmp"))
IS_PARALLEL = "PYTEST_XDIST_WORKER" in os.environ
# Processes of a parallel run inherit the name from the one that starts them, which also removes the folder.
MAKES_DOCS = "DOCS_OF_TESTS" not in os.environ
if MAKES_DOCS:
    os.environ["DOCS_OF_TESTS"] = tempfile.mkdtemp(prefix="grasp-tests-docs-", dir="/tmp")
BUILT_DOCS = Path(os.environ["DOCS_OF_TESTS"])
"""The documentation, which whatever needs it first builds for all processes of a run."""

# No deadline for examples: on a busy machine any of them may be slow; other tests measure speed.
hypothesis_settings.register_profile("grasp", deadline=None)
hypothesis_settings.load_profile("grasp")

os.chdir(PROJECT)
for name in (
    "DATABASE_URL",
    "REDIS_URL",
    "NEO4J_URL",
    "VECTORS_URL",
    "LLM_BASE_URL",
    "GRASP_ADMIN_PASSWORD",
    "DATABASE_POOL",
):
    os.environ.pop(name, None)
    os.environ.pop(f"{name}_FILE", None)
os.environ["GRASP_HOME"] = str(TEST_HOME)
# A test run asks more from one address than a visitor may. The tests of the limits set them again.
for name in ("GRASP_SEARCHES_PER_MINUTE", "GRASP_SEARCHES_PER_MINUTE_USER", "GRASP_SEARCHES_PER_MINUTE_TOKEN"):
    os.environ[name] = "0"
# The machine of a test run may be slow. The tests of these limits set them again.
os.environ["GRASP_QUEUE_SECONDS"] = "0"
os.environ["GRASP_WEB_SECONDS"] = "0"
# Tests launch imports from their temporary folders and from the demo bases.
os.environ["GRASP_IMPORT_ROOTS"] = f"{tempfile.gettempdir()},{PROJECT}"
os.environ["DJANGO_SETTINGS_MODULE"] = "grasp_site.settings"
# As many threads as cores in each of several processes wait for each other, by computing in circles.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
if IS_PARALLEL:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
TEST_HOME.chmod(0o755)
django.setup()

from django.conf import settings as django_settings  # noqa: E402
from django.test.signals import setting_changed  # noqa: E402

from grasp_site.embedded.home import Home  # noqa: E402
from grasp_site.embedded.lease import acquire, wait_until_stopped  # noqa: E402
from grasp_site.embedded.programs import search_worker as search_worker_program  # noqa: E402
from grasp_site.heartbeat import broker, worker_state  # noqa: E402
from search import wiring  # noqa: E402
from tests.database import hurry  # noqa: E402
from tests.engines import Engines  # noqa: E402
from tests.guarded import guarded  # noqa: E402
from tests.neo4j_server import Neo4jServer, running  # noqa: E402
from tests.s3_server import S3Server  # noqa: E402
from tests.s3_server import running as s3_running  # noqa: E402
from tests.schedule import LongFilesFirst  # noqa: E402
from tests.vector_server import VectorPostgres, running_vector_server  # noqa: E402

# A secure password hash takes more than a second, and a hundred tests sign a user in.
django_settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

WORKER_START_SECONDS = 120.0
HEARTBEAT_GONE_SECONDS = 15.0
QUEUES = ("search", "jobs", "gpu")
STARTED: list[Home] = []
"""The home whose services this process has started."""


def forget_tools(setting: str, **_: object) -> None:
    """Empty the caches of tools when a test sets or gives back what they were made of; a process never changes it."""
    if setting in ("GRASP_TOOLS", "GRASP_ENCODER", "GRASP_ENCODERS"):
        wiring.forget()
        wiring.encoder.cache_clear()


setting_changed.connect(forget_tools)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Let each process of a parallel run (`-n 2`) read the settings by itself, in a home of its own.

    With this variable, pytest-django reads them before this file has named the home.
    """
    os.environ.pop("DJANGO_SETTINGS_MODULE", None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongFilesFirst | None:
    """Let the processes of `--dist loadfile` take long files first."""
    return LongFilesFirst(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_unconfigure() -> None:
    shutil.rmtree(TEST_HOME, ignore_errors=True)
    if MAKES_DOCS:
        shutil.rmtree(BUILT_DOCS, ignore_errors=True)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip tests that this machine cannot run, with a sentence that says what is missing."""
    if item.get_closest_marker("data") and not SHARED_DATA.is_dir():
        pytest.skip("needs the knowledge bases of ../shared/data beside the repository, which are not there")
    if item.get_closest_marker("browser") and not CHROMIUM.exists():
        pytest.skip("needs Chromium: apt-get install --no-install-recommends chromium")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of the knowledge bases; tests that use it have the marker `data`."""
    return SHARED_DATA


@pytest.fixture(scope="session")
def services() -> Iterator[Home]:
    """Yield the home of the embedded Postgres and Valkey of this test run."""
    home = Home(TEST_HOME)
    lease = acquire(home, ["postgres", "valkey"])
    hurry(home)
    STARTED.append(home)
    yield home
    STARTED.clear()
    lease.close()
    assert wait_until_stopped(home, timeout=30), "the embedded services still run after the last lease"


@pytest.fixture(scope="module", autouse=True)
def nothing_left_by_another_file() -> None:
    """Take from Valkey what workers that were killed said about themselves, and tasks that nobody has taken."""
    for home in STARTED:
        client = broker(home.redis_url)
        if left := [*client.scan_iter("grasp:worker*"), *(queue for queue in QUEUES if client.exists(queue))]:
            client.delete(*left)


@pytest.fixture(scope="session")
def neo4j_server() -> Iterator[Neo4jServer]:
    """Yield the real Neo4j server of this test run."""
    with running(Home(TEST_HOME)) as server:
        yield server


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """Yield the real object store of this test run."""
    with s3_running(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def vector_server() -> Iterator[VectorPostgres]:
    """Yield the real Postgres with pgvectorscale of this test run."""
    with running_vector_server(TEST_HOME / "vector-engine") as server:
        yield server


@pytest.fixture(scope="session")
def engines(neo4j_server: Neo4jServer) -> Engines:
    """Return both engines, over whatever graph a test puts into them."""
    return Engines(neo4j_server)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(services: Home) -> None:
    """Start Postgres before pytest-django creates the test database."""


@pytest.fixture(scope="session")
def web_environment(django_db_setup: None, services: Home) -> dict[str, str]:
    """Return the environment for a process of the site on the test database.

    For tests marked `django_db(transaction=True)`.
    """
    name = django_settings.DATABASES["default"]["NAME"]
    return {**os.environ, "DATABASE_URL": services.database_url.replace("/grasp?", f"/{name}?")}


@pytest.fixture(scope="module")
def search_worker(web_environment: dict[str, str], services: Home) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a real search worker on the test database, for tests marked `django_db(transaction=True)`.

    It runs for one test file only, because other files test the site without a worker.
    """
    log = services.log("search worker")
    with log.open("ab") as output:
        process = guarded(
            search_worker_program(processes=2).command, cwd=PROJECT, env=web_environment, stdout=output, stderr=output
        )
    deadline = time.monotonic() + WORKER_START_SECONDS
    while worker_state("search") is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, f"the search worker does not start: {log.read_text()}"
        time.sleep(0.1)
    yield process
    process.terminate()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    deadline = time.monotonic() + HEARTBEAT_GONE_SECONDS
    while worker_state("search") is not None:
        assert time.monotonic() < deadline, "the heartbeat of a worker that has ended is still there"
        time.sleep(0.1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fuzz-requests", type=int, default=300, help="requests that the fuzz test makes up")
    parser.addoption("--fuzz-seed", type=int, default=1, help="where it begins; the same seed makes the same requests")
