"""`python -m grasp_site.embedded`: the program that `make run` starts after the installation."""

import sys

from grasp_site.embedded.children import Program
from grasp_site.embedded.commands import missing_services
from grasp_site.embedded.home import Home, closed_to_others
from grasp_site.embedded.programs import DOCUMENTATION, NO_SPINNING, programs
from grasp_site.embedded.supervisor import SitePlan, supervise
from grasp_site.environment import SettingError, env_int


def main() -> int:
    closed_to_others()
    try:
        port = env_int("PORT", 8000, minimum=1)
        plan = SitePlan(
            port=port,
            services=missing_services(),
            setup=Program("setup", [sys.executable, "-m", "grasp_site.setup"], environment=NO_SPINNING),
            programs=programs(port),
            once=[DOCUMENTATION],
        )
        return supervise(Home.from_environment(), plan)
    except SettingError as error:
        sys.stderr.write(f"{error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
