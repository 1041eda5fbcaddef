import json
import subprocess
import sys

HEAVY = ["torch", "transformers", "peft", "sentence_transformers"]
# A process of its own, as uvicorn would be: it answers a page, an API call and the admin's login, then tells what it loaded.
WEB = f"""
import json, sys
from grasp_site.asgi import application
from django.test import Client
statuses = [Client(headers={{"host": "localhost"}}).get(path).status_code for path in ("/", "/api/v1/healthz/", "/admin/login/")]
memory = int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
print(json.dumps({{"statuses": statuses, "heavy": [name for name in {HEAVY!r} if name in sys.modules], "megabytes": memory / 1024}}))
"""


def test_the_web_process_answers_pages_without_loading_a_model_library(web_environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WEB], env=web_environment, capture_output=True, text=True, check=True, timeout=60
    )
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["heavy"] == []
    assert seen["statuses"] == [200, 200, 200]
    assert seen["megabytes"] < 250
