"""The environment for production that the documentation shows, and what wrong values of it get."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grasp_site.environment import SettingError, env_choice
from grasp_site.metrics.listening import read_listen
from grasp_site.receiver import read_endpoint, read_headers
from grasp_site.security import known_to_everybody, read_networks, read_proxies, transport_settings

PROJECT = Path(__file__).resolve().parents[2]


def documented() -> dict[str, str]:
    """The environment of docs/operating.md."""
    page = (PROJECT / "docs/operating.md").read_text(encoding="utf-8")
    block = re.search(r"```ini\n(.*?)```", page, re.DOTALL)
    assert block is not None
    lines = [line for line in block[1].splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def checked(**changes: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "GRASP_HOME") if name in os.environ}
    environment = {**kept, **documented(), **changes}
    return subprocess.run(command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=False)


def test_djangos_deployment_check_finds_nothing_in_the_documented_environment() -> None:
    done = checked()
    assert done.returncode == 0, done.stderr
    assert "no issues" in done.stdout + done.stderr


def test_it_finds_what_is_open() -> None:
    done = checked(TRUSTED_PROXIES="", ALLOWED_HOSTS="*", GRASP_METRICS_TOKEN="change-me", GRASP_HSTS_PRELOAD="")
    assert done.returncode == 1
    for found in ("grasp.W001", "grasp.W002", "GRASP_METRICS_TOKEN is that of an example", "security.W021"):
        assert found in done.stderr


def test_a_wrong_value_stops_the_start_with_one_sentence() -> None:
    done = checked(GRASP_METRICS_NETWORKS="10.0.0.300")
    assert done.returncode != 0
    assert "GRASP_METRICS_NETWORKS: '10.0.0.300' is neither an address nor a network" in done.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"GRASP_HSTS_SECONDS": "60"}, "need GRASP_HTTPS=true"),
        ({"GRASP_HTTPS": "perhaps"}, "GRASP_HTTPS is 'perhaps'; it takes true or false."),
        ({"GRASP_HTTPS": "true", "GRASP_HSTS_SECONDS": "a year"}, "it takes a whole number"),
        ({"GRASP_HTTPS": "true", "GRASP_HSTS_PRELOAD": "true"}, "needs GRASP_HSTS_SECONDS=31536000 or more"),
    ],
)
def test_settings_of_https_that_do_not_fit_are_refused(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], sentence: str
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SettingError, match=re.escape(sentence)):
        transport_settings()


def test_nothing_of_it_is_on_without_https(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRASP_HTTPS", raising=False)
    found = transport_settings()
    assert not any(found[name] for name in ("SECURE_SSL_REDIRECT", "SECURE_HSTS_SECONDS", "SESSION_COOKIE_SECURE"))


def test_plain_requests_are_redirected_but_those_of_probes(settings, client) -> None:
    settings.SECURE_SSL_REDIRECT = True
    assert client.get("/account/sign-in/").headers["Location"] == "https://testserver/account/sign-in/"
    assert client.get("/api/v1/healthz/").status_code == 200
    assert client.get("/metrics").status_code == 403


def test_a_proxy_is_an_address_a_network_or_everybody() -> None:
    assert [str(one) for one in read_proxies("127.0.0.1, 10.0.0.0/8")] == ["127.0.0.1/32", "10.0.0.0/8"]
    assert len(read_proxies("*")) == 2
    with pytest.raises(ValueError, match="'proxy' is neither an address nor a network such as"):
        read_networks("proxy")


@pytest.mark.parametrize("text", ["change-me", "CHANGEME123", "django-insecure-x", "secret", "example"])
def test_secrets_of_examples_are_known(text: str) -> None:
    assert known_to_everybody(text)
    assert not known_to_everybody(f"3v9{text}")


@pytest.mark.parametrize("text", ["127.0.0.1:4318", "ftp://host", "http://", "http://host:0", "http://[::1"])
def test_an_endpoint_is_a_base_url(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape("such as http://127.0.0.1:4318")):
        read_endpoint(text)
    assert read_endpoint("http://otel:4318/") == "http://otel:4318"


def test_headers_are_pairs_and_a_fault_repeats_no_value() -> None:
    assert read_headers("X-Key=a%20b, n=1") == {"x-key": "a b", "n": "1"}
    with pytest.raises(SettingError) as told:
        read_headers("hush-hush")
    assert "hush" not in str(told.value)


def test_a_word_of_a_choice_is_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRASP_LOG_FORMAT", "xml")
    with pytest.raises(SettingError, match="it takes auto, json or text"):
        env_choice("GRASP_LOG_FORMAT", ("auto", "json", "text"))


@pytest.mark.parametrize("text", ["9464", "host:", ":9464", "host:0", "host:99999", "host:x"])
def test_an_address_to_listen_at_is_host_and_port(text: str) -> None:
    with pytest.raises(ValueError, match="it takes host:port such as"):
        read_listen(text)
    assert read_listen("[::]:9464") == ("::", 9464)
