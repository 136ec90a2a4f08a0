# Everything below works on a fresh Debian or Ubuntu with git, make, python3 (3.11+) and a C compiler.
# Each target makes .venv when it is missing and says what it lacks; run it again at any time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BOARD ?= pico1-emu
SEED ?= 1
TWO := -n 2 --dist loadfile
EVERY_WAY := --layout all --traversal all --strategy rip
DEMO_LAYERS := first\#mcunet-in0.0,first\#mcunet-in0.3,first\#mcunet-in0.5

# Tests start hundreds of short processes. What these import is compiled once, and not beside the sources.
export PYTHONDONTWRITEBYTECODE :=
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/bytecode

.PHONY: demo test test-all lint bench clean compilers extras

# The main job: three real layers, flashed, run with two buffers and in place, proved and judged.
demo: compilers $(STAMP)
	@$(BIN)/pytest layers -q --board $(BOARD) --layers '$(DEMO_LAYERS)' --tap-order gather --seeds 1 --seed $(SEED)

# Linters, all tests that need nothing beyond README's tools, and the quick layers on both emulated boards.
test: compilers lint
	$(BIN)/pytest tests -q $(TWO) -m "not extra"
	$(BIN)/pytest layers -q -n 2 --board pico1-emu --board pico2-emu -m "not slow"
	$(BIN)/pytest layers -q -n 2 --board pico1-emu --board pico2-emu --layers first\#odd-3x3 $(EVERY_WAY)

# The same with nothing left out: clang, Unicorn, rp2040js, a wheel, the slow layers, every execution of
# each, all of the operators' layers. A skip is a failure.
test-all: compilers lint extras
	$(BIN)/pytest tests -q $(TWO) --no-skips
	$(BIN)/pytest layers -q --board pico1-emu --board pico2-emu --input placed,copy
	$(BIN)/pytest layers -q --board pico1-emu --board pico2-emu $(EVERY_WAY)

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: compilers $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) build dist reports/*.jsonl reports/*.sqlite* reports/*.blobs reports/*.xml .benchmarks .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

compilers:
	@sh tools/setup.sh compilers

extras: $(STAMP)
	@sh tools/setup.sh extras '$(VENV)'

$(STAMP): pyproject.toml tools/setup.sh
	@PYTHON='$(PYTHON)' sh tools/setup.sh venv '$(VENV)'
	@touch $(STAMP)
