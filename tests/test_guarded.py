"""What a test run has started ends with it, even when nobody could clean up."""

from __future__ import annotations

import subprocess
import sys

import psutil

from tests.conftest import PROJECT

OWNER = """
import sys, time
from tests.guarded import guarded
print(guarded(["sleep", "600"]).pid, flush=True)
time.sleep(600)
"""
PATIENCE_SECONDS = 30.0


def test_a_killed_test_run_leaves_nothing_running_that_it_started() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    started = psutil.Process(int(owner.stdout.readline()))
    assert started.name() == "sleep"
    owner.kill()
    owner.wait()
    owner.stdout.close()
    started.wait(timeout=PATIENCE_SECONDS)
    assert not started.is_running()
