"""The table of processes that the supervisor keeps running beside Postgres and Valkey: one more is one more row."""

import signal
import sys

from grasp_site.embedded.children import Program
from grasp_site.environment import env_int, env_str, usual_search_threads

HOST = "127.0.0.1"
WEB_CONNECTIONS = 8
# glibc otherwise gives every thread a heap of its own; with models in the process that costs hundreds of megabytes.
FEW_HEAPS = {"MALLOC_ARENA_MAX": "2"}
# torch's threads otherwise spin while they wait for each other, and take the cores from those they wait for.
NO_SPINNING = {"OMP_WAIT_POLICY": "PASSIVE"}


def programs(port: int) -> list[Program]:
    """Web on `port`, and the workers."""
    return [web(port), search_worker(env_int("GRASP_SEARCH_THREADS", usual_search_threads(), minimum=1))]


def web(port: int) -> Program:
    arguments = ["--host", HOST, "--port", str(port), "--timeout-graceful-shutdown", "3", "--no-access-log"]
    # Whoever is believed about the address of a caller can ask as many searches as they make up addresses.
    proxies = env_str("TRUSTED_PROXIES")
    arguments += ["--proxy-headers", "--forwarded-allow-ips", proxies] if proxies else ["--no-proxy-headers"]
    return Program(
        name="web",
        command=[
            *(sys.executable, "-m", "uvicorn", "grasp_site.asgi:application", *arguments),
            *("--lifespan", "off", "--ws", "none"),
        ],
        environment={"DATABASE_POOL": str(WEB_CONNECTIONS), **FEW_HEAPS},
    )


def search_worker(threads: int) -> Program:
    """Threads, so that all searches share the models of one process."""
    return Program(
        name="search worker",
        command=[
            *(sys.executable, "-m", "celery", "--app", "grasp_site", "worker", "--queues", "search"),
            *("--pool", "threads", "--concurrency", str(threads), "--hostname", "search@%h"),
            *("--without-gossip", "--without-mingle"),
        ],
        environment={"DATABASE_POOL": str(threads + 2), **FEW_HEAPS, **NO_SPINNING},
        # The first asks Celery to finish what it has, the second to drop it.
        stop_signals=(signal.SIGTERM, signal.SIGQUIT),
    )
