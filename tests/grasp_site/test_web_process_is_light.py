import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.django_db(transaction=True)

# A model library alone takes more than the difference to what it has now, 245 to 252.
LIMIT_MEGABYTES = 270
# In a process of its own, as uvicorn would load the site: answers some pages, then tells what it has loaded.
WEB = """
import json, sys
from pathlib import Path
from grasp_site.asgi import application
from django.test import Client
from search.services.jobs.kinds import describe_kinds

client = Client(headers={"host": "localhost"})
statuses = {path: client.get(path).status_code for path in ("/", "/api/v1/healthz/", "/account/sign-in/")}
# Whoever launches a job needs the classes of all kinds.
statuses["kinds"] = 200 if describe_kinds() else 500
unwanted = {"torch", "transformers", "peft", "sentence_transformers", "lightgbm", "sklearn", "grasp_site.telemetry"}
# redis-py loads a part of OpenTelemetry by itself; the part that sends is loaded only where there is an endpoint.
unwanted |= {"opentelemetry.exporter", "opentelemetry.sdk.trace"}
heavy = sorted(unwanted & set(sys.modules))
resident = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
sys.stdout.write(json.dumps({"statuses": statuses, "heavy": heavy, "megabytes": int(resident.split()[1]) / 1024}))
"""


def test_the_web_process_answers_pages_without_loading_a_model_library(web_environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WEB], env=web_environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["heavy"] == []
    assert set(seen["statuses"].values()) == {200}, seen["statuses"]
    assert seen["megabytes"] < LIMIT_MEGABYTES
