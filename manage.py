#!/usr/bin/env python
"""Django's commands. One that needs Postgres or Valkey uses those of `make run`, or has the embedded ones started."""

import os
import sys

from django.core.management import execute_from_command_line
from django.db import InterfaceError, OperationalError

from grasp_site.embedded.commands import services_for
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.environment import SettingError
from search.domain.unstorable import storable
from search.services.searches.lost_session import lost_session

GO_ON = "Give the command again once it runs; long work goes on from what is stored."


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    # A command tells its progress itself; of the log it shows what went wrong.
    os.environ.setdefault("LOG_LEVEL", "WARNING")
    # Before torch is loaded: its threads wait for each other without taking the cores from anybody.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if wrong := [argument for argument in sys.argv if not storable(argument)]:
        sys.stderr.write("".join(f"The argument {argument!a} is no UTF-8; write it in UTF-8.\n" for argument in wrong))
        return 2
    try:
        with services_for(sys.argv[1:]):
            execute_from_command_line(sys.argv)
    except (EmbeddedError, SettingError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except (OperationalError, InterfaceError) as error:
        if (lost := lost_session(error)) is None:
            raise
        reason = str(lost).strip().partition("\n")[0]
        sys.stderr.write(f"Postgres does not answer: {reason}\n{GO_ON}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
