import shutil
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import kubernetes_validate
import pytest
import yaml

from grasp_site.setting_names import known_names, wrong_names
from tests.containers import DOCKER, services

VERSION = "1.32"
SETS = ("base", "full")
# In the cluster the ingress controller is the proxy, pods are scaled instead of processes, and pods have a network of
# their own.
PODS_NETWORK = "10.0.0.0/8"

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl, to build the kustomization")


@lru_cache
def built(name: str) -> list[dict[str, Any]]:
    """Return the resources of a kustomization."""
    folder = str(DOCKER / "kubernetes" / name)
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return list(yaml.safe_load_all(done.stdout))


def pods(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the specification of every kind of pod."""
    for resource in built(name):
        if resource["kind"] in ("Deployment", "StatefulSet", "Job"):
            yield resource["metadata"]["name"], resource["spec"]["template"]["spec"]


def containers(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of the pod, and each of its containers."""
    for pod, specification in pods(name):
        for container in [*specification.get("initContainers", []), *specification["containers"]]:
            yield pod, container


def main_container(name: str, pod: str) -> dict[str, Any]:
    """Return the container that a pod is there for."""
    [container] = dict(pods(name))[pod]["containers"]
    return dict(container)


@pytest.mark.parametrize("name", SETS)
def test_every_resource_is_valid_by_the_schema_of_kubernetes(name: str) -> None:
    for resource in built(name):
        kubernetes_validate.validate(resource, VERSION, strict=True)


@pytest.mark.parametrize("name", SETS)
def test_no_pod_runs_as_root(name: str) -> None:
    for pod, specification in pods(name):
        security = specification["securityContext"]
        assert security["runAsNonRoot"] is True, pod
        assert security["runAsUser"] > 0, pod
        assert security["seccompProfile"] == {"type": "RuntimeDefault"}, pod
        assert specification["automountServiceAccountToken"] is False, pod
        assert specification["enableServiceLinks"] is False, pod


@pytest.mark.parametrize("name", SETS)
def test_every_container_has_limits_and_no_privileges(name: str) -> None:
    for pod, container in containers(name):
        assert {"cpu", "memory"} <= set(container["resources"]["limits"]), pod
        assert {"cpu", "memory"} <= set(container["resources"]["requests"]), pod
        security = container["securityContext"]
        assert security["allowPrivilegeEscalation"] is False, pod
        assert security["capabilities"] == {"drop": ["ALL"]}, pod
        assert security["readOnlyRootFilesystem"] is (pod != "neo4j"), pod
        assert not container["image"].endswith(":latest"), pod
        assert ":" in container["image"], pod


@pytest.mark.parametrize("name", SETS)
def test_every_pod_that_stays_has_probes(name: str) -> None:
    for pod, specification in pods(name):
        for container in specification["containers"]:
            probes = {"startupProbe", "livenessProbe", "readinessProbe"} & set(container)
            assert len(probes) == (0 if pod == "migrate" else 3), pod


def test_commands_and_health_checks_are_those_of_the_compose_file() -> None:
    composed = services("full.yml")
    for pod in ("search", "jobs", "gpu", "beat", "migrate"):
        container = main_container("full", pod)
        assert container["command"] == composed[pod]["command"], pod
        if pod != "migrate":
            assert ["CMD", *container["livenessProbe"]["exec"]["command"]] == composed[pod]["healthcheck"]["test"], pod
    web = main_container("full", "web")["command"]
    assert [part.replace(PODS_NETWORK, "172.31.231.2") for part in web] == composed["web"]["command"][:-2]
    for pod in ("postgres", "valkey"):
        told = [part.replace("/run/secrets/grasp/valkey.conf", "/run/secrets/valkey_conf") for part in main_container(
            "full", pod
        )["args"]]  # fmt: skip
        assert told == composed[pod]["command"], pod


def test_settings_have_right_names_and_those_of_the_compose_file() -> None:
    [settings] = [one["data"] for one in built("base") if one["kind"] == "ConfigMap"]
    assert wrong_names(settings, known_names()) == {}
    [alone] = main_container("base", "migrate")["env"]
    assert {*settings, alone["name"]} == set(services("full.yml")["migrate"]["environment"])
    paths = {name: value for name, value in settings.items() if name.endswith("_FILE")}
    composed = services("full.yml")["web"]["environment"]
    for name, path in paths.items():
        assert path == composed[name].replace("/run/secrets/", "/run/secrets/grasp/"), name


def test_only_the_setup_knows_the_superuser_of_the_database() -> None:
    name = "DATABASE_SUPERUSER_URL_FILE"
    told = [one for one, service in services("full.yml").items() if name in service.get("environment", {})]
    mounted = [one for one, service in services("full.yml").items() if name[:-5].lower() in str(service.get("secrets"))]
    pods_told = [pod for pod, spec in pods("full") if name in str(spec)]
    assert told == mounted == pods_told == ["migrate"]


def test_the_language_model_is_told_to_the_site() -> None:
    [settings] = [one["data"] for one in built("full") if one["kind"] == "ConfigMap"]
    assert settings["LLM_MODEL"] == "grasp"
    assert "--lora-modules=grasp=/models/adapters/grasp" in main_container("full", "vllm")["args"]


def test_pods_wait_for_the_migration() -> None:
    for pod in ("web", "search", "jobs", "gpu", "beat"):
        [waits] = dict(pods("full"))[pod]["initContainers"]
        assert "migrate --check" in waits["command"][-1], pod


def test_only_the_ingress_reaches_the_web_pods_from_outside() -> None:
    types = {one["metadata"]["name"]: one["spec"].get("type") for one in built("full") if one["kind"] == "Service"}
    assert set(types.values()) == {None}, "no service is published by itself"
    policies = {one["metadata"]["name"]: one["spec"] for one in built("full") if one["kind"] == "NetworkPolicy"}
    assert policies["inside"]["podSelector"] == {}
    assert policies["web"]["ingress"][0]["ports"] == [{"port": 8000}]
