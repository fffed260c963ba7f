# The front door. Each target only calls cmake or a script, after making sure that the tools are there.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help demo test check chaos partitions build bench interop side-by-side format install deb clean

help:
	@echo 'make demo             set up, build (2 minutes), and see a lock at work; STORE=redis://host shows it there'
	@echo 'make test             set up, build and run every kind of test once (8 minutes)'
	@echo 'make check            also the sanitizers, clang, clang-tidy, the models and all seeds (30 minutes in all)'
	@echo 'make chaos            processes under seeded faults for TIME=1m; also TOPOLOGY=name, SEED=number'
	@echo 'make partitions       the same with packets that the kernel drops; this machine has to allow network namespaces'
	@echo 'make build            the library and the program, optimised, in build/release'
	@echo 'make bench            run the benchmarks'
	@echo 'make interop          lock next to libraries of other languages (from npm)'
	@echo 'make side-by-side     the same scenarios under flock, etcdctl lock and holdfast run'
	@echo 'make install          install both under PREFIX (now $(PREFIX))'
	@echo 'make deb              packages for Debian, tried in a root of their own, in build/deb'
	@echo 'make format           format every source in place'
	@echo 'make clean            remove build/'

demo:
	@scripts/setup build
	@cmake --preset release >/dev/null
	@echo 'Building the library and the program: 1 to 2 minutes on 2 cores, the first time.'
	@cmake --build --preset release --parallel $(JOBS) --target holdfast_program
	@build/release/cli/holdfast demo $(if $(STORE),--store '$(STORE)')

test:
	@echo 'Building one preset and running every kind of test once: 8 minutes on 2 cores, the first time.'
	@JOBS=$(JOBS) scripts/test

check:
	@echo 'Building four presets and running all tests: 30 minutes on 2 cores. An interrupted run can be continued.'
	@JOBS=$(JOBS) scripts/test check

chaos:
	@JOBS=$(JOBS) TIME='$(TIME)' TOPOLOGY='$(TOPOLOGY)' SEED='$(SEED)' scripts/chaos

partitions:
	@JOBS=$(JOBS) TIME='$(TIME)' SEED='$(SEED)' scripts/partitions

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

side-by-side: build
	@scripts/setup side_by_side
	@scripts/side_by_side

install: build
	@cmake --install build/release --prefix '$(PREFIX)'

deb:
	@scripts/setup deb
	@cmake --preset deb
	@cmake --build --preset deb --parallel $(JOBS)
	@cd build/deb && cpack
	@tests/package/deb build/deb g++
	@if command -v lintian >/dev/null; then lintian --fail-on error build/deb/*.deb; fi

format:
	@scripts/setup test
	@tests/repo/format.py --fix

clean:
	@rm -rf build
