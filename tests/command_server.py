"""Runs commands of the site in forks of one process that has loaded everything, because loading takes six seconds.

`serve` listens on a socket; the client of `CLIENT` stands where a page names `.venv/bin/python`, and behaves like it:
the same arguments, folder, input, output and exit code. What is no plain call of `manage.py` goes to the real Python.
"""

import array
import json
import os
import socket
import sys
import traceback
from pathlib import Path

CLIENT = """#!{python} -SE
import array, json, os, socket, sys
plain = sys.argv[1:2] == ["manage.py"] and os.environ.get("TESTED_SETTINGS") == "|".join(
    f"{{name}}={{value}}" for name, value in sorted(os.environ.items())
    if name.startswith(("GRASP_", "LLM_", "PORT", "DATABASE_", "REDIS_")) and name != "TESTED_SETTINGS")
if not plain or sys.argv[2:3] in (["worker"], ["build_docs"]):
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    said = json.dumps({{"arguments": sys.argv[1:], "folder": os.getcwd()}}).encode()
    line.sendmsg([len(said).to_bytes(4, "big") + said],
                 [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]).tobytes())])
    code = line.recv(1)
sys.exit(code[0] if code else 1)
"""


def settings_mark(environment: dict[str, str]) -> str:
    """Return the settings in an environment as one line, by which the client sees that a command changes one."""
    prefixes = ("GRASP_", "LLM_", "PORT", "DATABASE_", "REDIS_")
    named = sorted((name, value) for name, value in environment.items() if name.startswith(prefixes))
    return "|".join(f"{name}={value}" for name, value in named if name != "TESTED_SETTINGS")


def serve(address: str) -> None:
    """Load what commands need, then run each one that arrives in a fork; one at a time, until this process is ended."""
    import django

    django.setup()
    import lightgbm  # noqa: F401
    import sentence_transformers  # noqa: F401

    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen()
        while True:
            line, _ = door.accept()
            with line:
                _run(line)


def _run(line: socket.socket) -> None:
    received, ancillary, _, _ = line.recvmsg(65536, socket.CMSG_SPACE(3 * 4))
    size = int.from_bytes(received[:4], "big")
    while len(received) < size + 4:
        received += line.recv(65536)
    order = json.loads(received[4:])
    descriptors = array.array("i")
    descriptors.frombytes(ancillary[0][2])
    child = os.fork()
    if not child:
        _work(order["arguments"], order["folder"], list(descriptors))
    for descriptor in descriptors:
        os.close(descriptor)
    _, status = os.waitpid(child, 0)
    line.sendall(bytes([os.waitstatus_to_exitcode(status) & 0xFF]))


def _work(arguments: list[str], folder: str, descriptors: list[int]) -> None:
    """Be the command: never returns."""
    code = 1
    try:
        for number, descriptor in enumerate(descriptors):
            os.dup2(descriptor, number)
        os.chdir(folder)
        sys.argv = arguments
        from manage import main

        code = main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - like the interpreter: a traceback, and exit 1
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    serve(sys.argv[1])
