"""`python -m grasp_site.probe NAME`: exits with 0 if a process of this machine or container works, and with 1 if not.

This is the health check of containers: `web` asks the web process on `PORT`; `search`, `jobs` and `gpu` ask the broker
for the heartbeat of a worker of that queue on this host; `beat` asks when the scheduler last ran. Django is not loaded,
so that a check costs little.
"""

import http.client
import json
import os
import socket
import sys

import redis

from grasp_site.addresses import client_url
from grasp_site.embedded.home import Home
from grasp_site.environment import SettingError, env_int, env_list, env_secret

ALIVE_PATH = "/api/v1/healthz/"
BEAT_KEY = "grasp:beat"
WORKERS_KEY = "grasp:workers:{queue}"
HEARTBEAT_SECONDS = 5
"""Age of the last heartbeat from which on a worker counts as stuck; heartbeats come every second."""
ANSWER_SECONDS = 3.0
WORKER_QUEUES = ("search", "jobs", "gpu")


def web(port: int, host: str) -> str:
    """Return why the web process on `port` does not answer, or an empty string; `host` is a name it answers to."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", ALIVE_PATH, headers={"Host": host, "X-Forwarded-Proto": "https"})
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        return f"The web process does not answer on port {port} ({type(error).__name__})."
    finally:
        connection.close()
    return "" if status == http.client.OK else f"The web process answers with HTTP {status}."


def worker(client: redis.Redis, queue: str, host: str) -> str:
    """Return why no worker of the queue on this host counts as alive, or an empty string."""
    now = int(client.time()[0]) * 1000
    reports: list[bytes] = client.zrangebyscore(  # type: ignore[assignment]
        WORKERS_KEY.format(queue=queue), now - 1000 * HEARTBEAT_SECONDS, "+inf"
    )
    if any(json.loads(report)["host"] == host for report in reports):
        return ""
    return f"No worker of the queue {queue} on {host} has reported for {HEARTBEAT_SECONDS} seconds."


def beat(client: redis.Redis) -> str:
    """Return why the scheduler does not count as alive, or an empty string."""
    return "" if client.exists(BEAT_KEY) else "The scheduler has not run for some seconds."


def fault(name: str) -> str:
    """Return what is wrong with the process, or an empty string. Raises `SettingError`, and KeyError for no process."""
    if name == "web":
        names = [host.lstrip(".") for host in env_list("ALLOWED_HOSTS", ["localhost"]) if host != "*"]
        return web(env_int("PORT", 8000, minimum=1), names[0] if names else "localhost")
    if name != "beat" and name not in WORKER_QUEUES:
        raise KeyError(name)
    url = client_url(env_secret("REDIS_URL") or Home.from_environment().redis_url)
    client = redis.Redis.from_url(url, socket_timeout=ANSWER_SECONDS, socket_connect_timeout=ANSWER_SECONDS)
    try:
        return beat(client) if name == "beat" else worker(client, name, socket.gethostname()[:255])
    except redis.RedisError as error:
        return f"The broker does not answer: {error}"
    finally:
        client.close()


def main(arguments: list[str]) -> int:
    """Print what is wrong, if anything is; return the exit code."""
    known = ("web", *WORKER_QUEUES, "beat")
    if len(arguments) != 1 or arguments[0] not in known:
        sys.stderr.write(f"Name one process to check: {', '.join(known)}.\n")
        return 2
    try:
        wrong = fault(arguments[0])
    except SettingError as error:
        wrong = str(error)
    if wrong:
        sys.stderr.write(f"{wrong}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    # A check may end in the middle of a start; nothing it holds is worth a slow end of the interpreter.
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)
