# Each target sets up what it needs, on a fresh machine with Python 3.11 or later.
# Yours to set: PYTHON (the one that makes .venv), PYTEST (more words for pytest).

SHELL := /bin/bash
.DEFAULT_GOAL := tour
.PHONY: tour setup lab test grade build verify adversarial bench debian

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$$name"; break; }; done)
PYTEST ?=

ASSIGNMENT := s19-debugging
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
READY := $(VENV)/ready
BUILT := grading/built
TEXTS := $(wildcard solutions/*.py solutions/claims.yml) $(wildcard autograder/*.py autograder/build/*.py autograder/exercises/*.py)
NOTEBOOKS := $(wildcard solutions/$(ASSIGNMENT)/*.ipynb notebooks/$(ASSIGNMENT)/*.ipynb)
export PATH := $(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

tour:
	@echo 'make lab      students: open the first notebook in JupyterLab'
	@echo 'make grade    instructors: grade an example class, with feedback and a report'
	@echo 'make build    contributors: make the notebooks from their texts in solutions/'
	@echo 'make verify   contributors: stubs, wrong answers and mutants must fail, right answers pass'
	@echo 'make test     contributors: every test (make test PYTEST="-k gates" for some)'
	@echo 'make adversarial   contributors: awkward and hostile submissions, ours beside stock nbgrader'
	@echo 'make bench        contributors: how fast a class is graded, beside stock nbgrader and the bare floor'
	@echo 'Each sets up .venv first; README.md says more.'

setup: $(READY) debian

$(READY): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or later is needed; name one: make setup PYTHON=...'; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	@echo 'setting up $(VENV) (once; torch is large)'
	@$(BIN)/python -m pip install --quiet --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# bubblewrap walls student code in while grading; for tests chromium is a browser, postgresql a gradebook,
# and iproute2 and openssl make a network of hosts with certificates.
debian:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		wanted=; \
		command -v bwrap >/dev/null || wanted="$$wanted bubblewrap"; \
		command -v chromium >/dev/null || wanted="$$wanted chromium"; \
		command -v ip >/dev/null || wanted="$$wanted iproute2"; \
		command -v openssl >/dev/null || wanted="$$wanted openssl"; \
		ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || wanted="$$wanted postgresql"; \
		if [ -n "$$wanted" ]; then \
			echo "installing$$wanted"; \
			{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
				apt-get install -y -qq --no-install-recommends $$wanted; } >/dev/null 2>&1 \
				|| echo "could not install$$wanted"; \
		fi; \
	fi

# binder/jupyter: no news from the net, and no tools for instructors.
lab: export JUPYTER_CONFIG_PATH := $(CURDIR)/binder/jupyter
lab: $(READY)
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) \
		$(firstword $(sort $(wildcard notebooks/$(ASSIGNMENT)/*.ipynb)) .)

test: $(READY) debian
	$(BIN)/python -m pytest -n 2 --dist loadscope --no-loadscope-reorder $(PYTEST)

# Committed notebooks are taken as they are where they match their texts.
$(BUILT): $(READY) $(TEXTS) $(NOTEBOOKS)
	@mkdir -p $(@D)
	$(BIN)/autograder build --if-needed
	@touch $@

build: $(READY)
	$(BIN)/autograder build
	@mkdir -p $(dir $(BUILT)) && touch $(BUILT)

grade: $(BUILT) debian
	$(BIN)/python -m tests.example_class
	$(BIN)/autograder grade

verify: $(BUILT)
	$(BIN)/autograder verify

adversarial: $(READY) debian
	$(BIN)/python -m tests.adversarial

bench: $(BUILT) debian
	$(BIN)/python -m tests.bench
