# Everything a developer types: make run, make test, make lint, make bench, make neo4j.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# The stamp's name carries a checksum of what is to be installed, so that nothing is done twice and no change is missed.
WANTED := $(shell cat constraints.txt pyproject.toml | cksum | cut -d' ' -f1)
RUN_STAMP := $(VENV)/installed-$(WANTED)
TEST_STAMP := $(VENV)/installed-test-$(WANTED)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --requirement
# The site runs from this folder, so what pyproject.toml lists is installed and the project itself is not.
LIST := import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]
RUNTIME := print(*project["dependencies"], sep="\n")
TESTS := print(*project["optional-dependencies"]["test"], sep="\n")

.DEFAULT_GOAL := help
.PHONY: help run test lint bench neo4j

help:
	@echo "make run    set up, then run everything; prints 'Ready: ' and the address"
	@echo "make test   set up, then lint, types, import rules and every test"
	@echo "make lint   the checks alone"
	@echo "make bench  tables of speed and quality"
	@echo "make neo4j  a Neo4j server in the foreground; prints 'Ready: ' and the value for NEO4J_URL"

run: $(RUN_STAMP)
	@exec $(BIN)/python -m grasp_site.embedded

test: lint
	@exec $(BIN)/python -m pytest

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(TEST_STAMP)
	@exec $(BIN)/python -m benchmarks

# Another port: make neo4j NEO4J_PORT=7690
neo4j: $(RUN_STAMP)
	@exec $(BIN)/python -m grasp_site.embedded.neo4j $(if $(NEO4J_PORT),--port $(NEO4J_PORT))

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; $(PYTHON) is older. Name another: make run PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ rm -rf $(VENV); echo "No virtual environment could be made. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

$(RUN_STAMP): | $(BIN)/python
	@echo "Installing packages into $(VENV); the first time this takes some minutes, mostly download."
	@$(BIN)/python -c '$(LIST); $(RUNTIME)' > $(VENV)/requirements.txt && $(INSTALL) $(VENV)/requirements.txt
	@rm -f $(VENV)/installed-*
	@touch $@

$(TEST_STAMP): | $(BIN)/python
	@echo "Installing packages into $(VENV); the first time this takes some minutes, mostly download."
	@$(BIN)/python -c '$(LIST); $(RUNTIME); $(TESTS)' > $(VENV)/requirements.txt && $(INSTALL) $(VENV)/requirements.txt
	@rm -f $(VENV)/installed-*
	@touch $(RUN_STAMP) $@
