# Two commands do everything on a fresh machine (Debian, Python 3.11):
#   make ladder   the g06 ladder of the default profile, then its table
#   make test     the tests
VENV ?= .venv
CORES ?= 4
PYTHON ?= python3
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: ladder smoke test lint nightly cluster bench bench-learning bench-engine clean-venv help

help:
	@sed -n 's/^#   //p' Makefile

ladder: $(READY)
	$(BIN)/snakemake results/ladder/g06.json --cores $(CORES)

#   make smoke    the same ladder at its smallest, two to three minutes
smoke: $(READY)
	$(BIN)/snakemake results/smoke/ladder/g06.json --cores 2 --config profile=smoke

test: $(READY)
	$(BIN)/python -m pytest -n 2 --dist loadfile

#   make nightly  the long fuzz runs too
nightly: $(READY)
	$(BIN)/python -m pytest -m "not cluster"

#   make cluster  a ladder on a Slurm of its own (root; Debian's slurm-wlm and munge)
cluster: $(READY)
	$(BIN)/python -m pytest -m cluster -rs tests/cluster

#   make lint     what CI checks besides the tests
lint: $(READY)
	$(BIN)/snakemake --lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow

#   make bench    training throughput of the default profile
bench: $(READY)
	$(BIN)/snakemake results/bench/laptop.json --cores $(CORES)

#   make bench-learning  the root of the default profile against players that do not learn
bench-learning: $(READY)
	$(BIN)/snakemake results/bench/laptop.learning.json --cores $(CORES)

#   make bench-engine  the Generals engine alone
bench-engine: $(READY)
	$(BIN)/python -m royale.games.generals.bench

# Without an isolated build: setuptools is pinned by the lock file too.
$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info[:2] < (3, 13) else \
	  "Python 3.11 or 3.12 is needed, this is " + sys.version.split()[0] + "; try make PYTHON=python3.11")'
	@$(PYTHON) -c 'import venv, ensurepip' || \
	  (echo "The venv module is missing: apt-get install python3-venv" >&2; exit 1)
	@echo "Installing the pinned packages into $(VENV): about 2 GB, one to five minutes."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.lock
	$(BIN)/python -m pip install --disable-pip-version-check -q --no-deps --no-build-isolation -e .
	@touch $(READY)

clean-venv:
	rm -rf $(VENV)
