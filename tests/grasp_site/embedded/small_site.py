"""A supervisor over a site that starts at once: `python small_site.py PORT [SERVICE…]`; its web is ready at once."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from grasp_site.embedded.children import Program
from grasp_site.embedded.home import Home
from grasp_site.embedded.supervisor import READY_PATH, SitePlan, supervise


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == READY_PATH else 404)
        self.end_headers()


def main() -> int:
    port = int(sys.argv[1])
    if "serve" in sys.argv:
        ThreadingHTTPServer(("127.0.0.1", port), Page).serve_forever()
    web = Program("web", [sys.executable, __file__, str(port), "serve"])
    # Deaf to every polite request, so that ending it takes a SIGKILL; and with a child of its own.
    stubborn = Program("stubborn", ["/bin/sh", "-c", "trap '' TERM INT HUP; sleep 600 & wait; sleep 600"], patience=0.3)
    setup = Program("setup", ["/bin/sh", "-c", "echo 'password hush'; echo 'a line for the log' >&2"])
    return supervise(Home.from_environment(), SitePlan(port, sys.argv[2:], setup, [web, stubborn]))


if __name__ == "__main__":
    sys.exit(main())
