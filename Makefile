# Everything below works on a fresh Debian or Ubuntu with git, make, python3 (3.11+) and a C compiler.
# Each target makes .venv when it is missing and says what it lacks; run it again at any time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SEED ?= 1

.PHONY: test test-all lint bench clean tools

$(STAMP): pyproject.toml tools/setup.sh
	@PYTHON='$(PYTHON)' sh tools/setup.sh venv '$(VENV)'
	@touch $(STAMP)

tools:
	@sh tools/setup.sh compilers

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: tools lint
	$(BIN)/pytest tests -q -m "not extra"

clean:
	rm -rf $(VENV) build dist reports/*.jsonl reports/*.xml .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
