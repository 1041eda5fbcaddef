"""The processes that the supervisor keeps running besides Postgres and Valkey; to add one, add a row."""

import signal
import sys

from grasp_site.device import gpus
from grasp_site.embedded.children import Program
from grasp_site.environment import env_int, env_str, usual_search_processes, usual_web_processes

HOST = "127.0.0.1"
WEB_CONNECTIONS = 8
SEARCH_CONNECTIONS = "4"
"""Connections of a process that searches: for the search, its steps, the watch over it, and the look at files."""
KEEP_ALIVE_SECONDS = "150"
"""Seconds that an idle connection is kept, longer than browsers and proxies keep theirs (Caddy: 120).

Whoever closes first must be the one who sends, or a request may meet a connection that has just been closed.
"""
# By default glibc gives every thread its own heap, which costs hundreds of megabytes in a process with models.
FEW_HEAPS = {"MALLOC_ARENA_MAX": "2"}
# By default torch's threads spin while they wait for each other, and occupy the cores of the threads they wait for.
NO_SPINNING = {"OMP_WAIT_POLICY": "PASSIVE"}

# Builds the pages below /docs/ where they are not there yet or their sources have changed.
DOCUMENTATION = Program(name="docs", command=[sys.executable, "-m", "grasp_site.documentation.build"])


def programs(port: int) -> list[Program]:
    """Return the programs of the web process on `port`, and of the workers; one for `gpu` only where there is a GPU."""
    workers = [search_worker(env_int("GRASP_SEARCH_PROCESSES", usual_search_processes(), minimum=1))]
    workers += [job_worker(queue) for queue in ("jobs", "gpu") if queue != "gpu" or gpus()]
    return [web(port), *workers]


def web(port: int) -> Program:
    arguments = [
        "--host",
        env_str("GRASP_HOST", HOST),
        "--port",
        str(port),
        "--timeout-graceful-shutdown",
        "3",
        "--timeout-keep-alive",
        KEEP_ALIVE_SECONDS,
        # A process that has much to do is not dead.
        "--timeout-worker-healthcheck",
        "30",
        "--no-access-log",
    ]
    # Whoever is believed about the address of a caller can ask as many searches as they make up addresses.
    proxies = env_str("TRUSTED_PROXIES")
    arguments += ["--proxy-headers", "--forwarded-allow-ips", proxies] if proxies else ["--no-proxy-headers"]
    processes = env_int("GRASP_WEB_PROCESSES", usual_web_processes(), minimum=1)
    return Program(
        name="web",
        command=[
            *(sys.executable, "-m", "uvicorn", "grasp_site.asgi:application", *arguments),
            *("--lifespan", "off", "--ws", "none"),
            *(("--workers", str(processes)) if processes > 1 else ()),
        ],
        environment={"DATABASE_POOL": str(WEB_CONNECTIONS), **FEW_HEAPS},
    )


def search_worker(processes: int) -> Program:
    """Return the program of the search worker, whose processes share the memory of its models."""
    return Program(
        name="search worker",
        command=[sys.executable, "-m", "grasp_site.search_worker", "--processes", str(processes)],
        environment={"DATABASE_POOL": SEARCH_CONNECTIONS, **FEW_HEAPS},
        # The first signal asks Celery to finish its tasks, the second to drop them.
        stop_signals=(signal.SIGTERM, signal.SIGQUIT),
    )


def job_worker(queue: str) -> Program:
    """Return the program of a worker of jobs; asked to stop, it hands its job back within some seconds."""
    return Program(
        name=f"{queue} worker",
        command=[sys.executable, "-m", "celery", *job_worker_arguments(queue)],
        environment={**FEW_HEAPS, **NO_SPINNING},
        stop_signals=(signal.SIGTERM, signal.SIGQUIT),
    )


def job_worker_arguments(queue: str) -> list[str]:
    """Return Celery's arguments: one process a job; a worker of `gpu` has one for each GPU."""
    processes = max(1, gpus()) if queue == "gpu" else env_int("GRASP_JOB_PROCESSES", 1, minimum=1)
    return [
        *("--app", "grasp_site", "worker", "--queues", queue, "--pool", "prefork"),
        *("--concurrency", str(processes), "--hostname", f"{queue}@%h", "--without-gossip", "--without-mingle"),
    ]
