import re
from typing import Any

import pytest

from grasp_site.embedded import programs
from tests.containers import DOCKER, PROXY, compose, services

FILES = ("try.yml", "full.yml")
DOMAIN = {"GRASP_DOMAIN": "search.example.org"}
EVERY = [(file, name) for file in FILES for name in services(file)]
# It runs once and ends; who needs it waits for its success.
ONE_SHOT = {("full.yml", "migrate")}
# Its start script writes into the image's own folders.
WRITES = {("full.yml", "neo4j")}


@pytest.fixture(params=EVERY, ids=lambda pair: ":".join(pair))
def named(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Return a file and the name of one of its services; every service is tried."""
    return request.param


@pytest.fixture
def service(named: tuple[str, str]) -> dict[str, Any]:
    """Return the service as Compose would run it."""
    file, name = named
    return services(file, DOMAIN)[name]


def test_a_service_has_a_health_check(named: tuple[str, str], service: dict[str, Any]) -> None:
    check = service["healthcheck"]
    if named in ONE_SHOT:
        assert check == {"disable": True}
        return
    assert check["test"][0] in ("CMD", "CMD-SHELL")
    assert {"interval", "timeout", "retries", "start_period"} <= set(check)


def test_a_service_has_limits(service: dict[str, Any]) -> None:
    limits = service["deploy"]["resources"]["limits"]
    assert set(limits) == {"cpus", "memory", "pids"}


def test_no_service_runs_as_root_or_may_become_root(service: dict[str, Any]) -> None:
    user, _, group = service["user"].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service


def test_the_files_of_an_image_cannot_be_changed(named: tuple[str, str], service: dict[str, Any]) -> None:
    assert service["read_only"] is (named not in WRITES)


def test_a_service_starts_again_after_a_fault(named: tuple[str, str], service: dict[str, Any]) -> None:
    assert service["restart"] == ("on-failure:3" if named in ONE_SHOT else "unless-stopped")


def test_images_have_exact_tags(service: dict[str, Any]) -> None:
    name, _, tag = service["image"].rpartition(":")
    assert name
    assert tag not in ("", "latest")


def test_only_the_proxy_is_published() -> None:
    published = {name: service["ports"] for name, service in services("full.yml", DOMAIN).items() if "ports" in service}
    assert set(published) == {"proxy", "grafana"}
    assert published["grafana"] == ["127.0.0.1:3000:3000"]
    [trial] = services("try.yml").values()
    assert trial["ports"] == ["127.0.0.1:8000:8000"]


def test_only_the_proxy_and_the_web_process_share_a_network_with_the_outside_side() -> None:
    networks = compose("full.yml", DOMAIN)["networks"]
    assert networks["front"]["internal"] is True
    assert networks["inside"]["internal"] == "true"
    of = {name: set(service["networks"]) for name, service in services("full.yml", DOMAIN).items()}
    assert {name for name, used in of.items() if "front" in used} == {"web", "proxy"}
    assert {name for name, used in of.items() if "outside" in used} == {"proxy", "vllm"}
    assert "inside" not in of["proxy"]


def test_the_services_of_the_site_wait_for_the_migration() -> None:
    for name in ("web", "search", "jobs", "gpu", "beat"):
        needs = services("full.yml")[name]["depends_on"]
        assert needs["migrate"] == {"condition": "service_completed_successfully"}


def test_profiles_switch_on_what_not_everybody_has() -> None:
    found = {name: service["profiles"] for name, service in services("full.yml").items() if "profiles" in service}
    assert found == {
        "neo4j": ["neo4j"], "gpu": ["gpu"], "vllm": ["llm"], "prometheus": ["monitoring"], "grafana": ["monitoring"],
    }  # fmt: skip


def test_what_is_mounted_from_the_tree_is_there() -> None:
    for name, service in services("full.yml").items():
        for volume in service.get("volumes", []):
            source = str(volume).partition(":")[0]
            if source.startswith("./monitoring/"):
                assert (DOCKER / source).is_file(), f"{name}: {source}"


def test_secrets_are_files_that_the_script_makes() -> None:
    script = (DOCKER / "make-secrets.sh").read_text(encoding="utf-8")
    made = set(re.findall(r"made ([a-z0-9_.]+)$", script, flags=re.MULTILINE))
    file = compose("full.yml")
    assert {secret["file"].removeprefix("./secrets/") for secret in file["secrets"].values()} <= made
    for name, service in file["services"].items():
        assert set(service.get("secrets", [])) <= set(file["secrets"]), name
        named = re.findall(r"/run/secrets/(\w+)", str([service.get("command"), service.get("environment")]))
        assert set(named) <= set(service.get("secrets", [])), name


def test_the_site_is_told_no_password_but_by_files() -> None:
    environment = services("full.yml")["web"]["environment"]
    secret = [name for name in environment if re.search(r"PASSWORD|SECRET|_URL|API_KEY", name)]
    assert all(name.endswith("_FILE") and environment[name].startswith("/run/secrets/") for name in secret)


def test_the_commands_are_those_that_make_run_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The containers' commands differ by the address and the name of Python."""
    monkeypatch.setenv("GRASP_HOST", "0.0.0.0")
    monkeypatch.setenv("TRUSTED_PROXIES", PROXY)
    monkeypatch.setenv("GRASP_WEB_PROCESSES", "2")
    full = services("full.yml")
    assert full["web"]["environment"]["TRUSTED_PROXIES"] == PROXY
    assert full["web"]["command"] == ["python", *programs.web(8000).command[1:]]
    assert full["search"]["command"] == ["python", *programs.search_worker(2).command[1:]]
    for name in ("jobs", "gpu"):
        assert full[name]["command"] == ["python", "manage.py", "worker", "--queue", name]
    assert full["migrate"]["command"] == ["python", "-m", "grasp_site.setup"]
    [trial] = services("try.yml").values()
    assert trial["command"] == ["python", "-m", "grasp_site.embedded"]


def test_the_addresses_follow_from_the_domain() -> None:
    environment = services("full.yml", DOMAIN)["web"]["environment"]
    assert environment["ALLOWED_HOSTS"] == "search.example.org,web"
    assert environment["CSRF_TRUSTED_ORIGINS"] == "https://search.example.org"
