import signal
import subprocess
import sys

from grasp_site.embedded import watchdog
from grasp_site.embedded.watchdog import end_groups, groups_left

DEAF = ["/bin/sh", "-c", "trap '' TERM; echo deaf; sleep 600 & wait; sleep 600"]


def test_a_group_that_was_taken_back_is_left_alone() -> None:
    assert groups_left(["+ 11 2 3\n", "+ 12 15\n", "- 11\n"]) == {12: [15]}


def test_a_group_that_ends_at_the_first_signal_gets_no_other() -> None:
    polite = subprocess.Popen(["sleep", "600"], start_new_session=True)
    end_groups({polite.pid: [signal.SIGTERM]}, patience=0.2)
    assert polite.wait() == -signal.SIGTERM


def test_a_group_that_ignores_its_signal_is_killed_with_its_children() -> None:
    deaf = subprocess.Popen(DEAF, start_new_session=True, stdout=subprocess.PIPE, text=True)
    assert deaf.stdout is not None
    assert deaf.stdout.readline() == "deaf\n"
    end_groups({deaf.pid: [signal.SIGTERM]}, patience=0.2)
    assert deaf.wait() == -signal.SIGKILL
    # The end of the pipe: nobody who had inherited it is left.
    assert deaf.stdout.read() == ""


def test_a_group_that_is_gone_already_is_no_trouble() -> None:
    gone = subprocess.Popen(["true"], start_new_session=True)
    gone.wait()
    end_groups({gone.pid: [signal.SIGTERM]}, patience=0.2)


def test_the_groups_that_it_was_started_with_end_though_its_owner_writes_nothing() -> None:
    guarded = subprocess.Popen(["sleep", "600"], start_new_session=True)
    guard = subprocess.Popen([sys.executable, watchdog.__file__, f"+ {guarded.pid} 15"], stdin=subprocess.DEVNULL)
    assert guarded.wait() == -signal.SIGTERM
    assert guard.wait() == 0
