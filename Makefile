# The front door. Each target only calls cmake or a script, after making sure that the tools are there.
PREFIX ?= /usr/local
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help demo test build bench interop format install clean

help:
	@echo 'make demo             set up, build, and see a lock at work, in a minute; STORE=redis://host shows it there'
	@echo 'make test             set up, build and run every test, with both compilers and the sanitizers'
	@echo 'make build            the library and the program, optimised, in build/release'
	@echo 'make bench            run the benchmarks'
	@echo 'make interop          lock next to libraries of other languages (from npm)'
	@echo 'make install          install both under PREFIX (now $(PREFIX))'
	@echo 'make format           format every source in place'
	@echo 'make clean            remove build/'

demo:
	@scripts/setup build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --parallel $(JOBS) --target holdfast_program
	@build/release/cli/holdfast demo $(if $(STORE),--store '$(STORE)')

test:
	@JOBS=$(JOBS) scripts/test

build:
	@scripts/setup build
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target holdfast holdfast_program

bench:
	@scripts/setup bench
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target holdfast_bench holdfast_program
	@build/release/bench/holdfast_bench

interop: build
	@tests/interop/run

install: build
	@cmake --install build/release --prefix '$(PREFIX)'

format:
	@scripts/setup test
	@tests/house/format.py --fix

clean:
	@rm -rf build
