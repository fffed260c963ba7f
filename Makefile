# The front door. Each target only calls cmake or a script, after making sure that the tools are there.
PREFIX ?= /usr/local
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help test build bench format install clean

help:
	@echo 'make test             set up, build and run every test, with both compilers and the sanitizers'
	@echo 'make build            the optimised library, in build/release'
	@echo 'make bench            run the benchmarks'
	@echo 'make install          install the library under PREFIX (now $(PREFIX))'
	@echo 'make format           format every source in place'
	@echo 'make clean            remove build/'

test:
	@JOBS=$(JOBS) scripts/test

build:
	@scripts/setup build
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS)

bench: build
	@build/release/bench/holdfast_bench

install: build
	@cmake --install build/release --prefix '$(PREFIX)'

format:
	@scripts/setup test
	@tests/house/format.py --fix

clean:
	@rm -rf build
