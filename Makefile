# A thin front for CMake and the scripts in tools/: `make` builds, `make demo` and `make check` do everything
# from a bare machine.
PRESET ?= release
BUILD  := build/$(PRESET)
prefix ?= /usr/local
# More options for CMake, say CMAKE_OPTIONS=-DOFL_WARNINGS_ARE_ERRORS=ON
CMAKE_OPTIONS ?=

.PHONY: all setup demo check check-asan check-tsan check-testers lint format bench fuzz install clean help
all: $(BUILD)/build.ninja
	@cmake --build $(BUILD)

# Quiet when it works: what configuring printed is shown only when it failed.
$(BUILD)/build.ninja: CMakePresets.json
	@cmake --preset $(PRESET) -G Ninja $(CMAKE_OPTIONS) >build-$(PRESET).log 2>&1 || { cat build-$(PRESET).log; rm -f build-$(PRESET).log; exit 1; }
	@grep 'CUDA backend' build-$(PRESET).log; rm -f build-$(PRESET).log

help:
	@echo 'make                build into build/release (PRESET=debug, asan, tsan for another)'
	@echo 'make setup          install what building and testing need: Debian packages, .venv'
	@echo 'make demo           set up, build, and run a NumPy program without and with gpu-offload'
	@echo 'make check          set up, build, and run all tests that need no GPU'
	@echo 'make check-asan     the tests with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make check-tsan     the tests with ThreadSanitizer'
	@echo 'make check-testers  every packaged BLAS and LAPACK tester and the suites of NumPy and SciPy (long)'
	@echo 'make lint           formatting, static analysis, layers, lengths'
	@echo 'make format         bring the C files into the form that lint asks for'
	@echo 'make bench          what interception costs'
	@echo 'make fuzz           feed damaged input to everything that reads files'
	@echo 'make install        install under prefix ($(prefix)); DESTDIR is honoured'
	@echo 'make clean          remove build'

setup:
	@tools/setup

demo: setup
	@$(MAKE) --no-print-directory all
	@.venv/bin/python examples/demo.py --command $(BUILD)/bin/gpu-offload

check: setup
	@$(MAKE) --no-print-directory all
	@tools/check $(BUILD)

check-asan check-tsan: check-%: setup
	@$(MAKE) --no-print-directory all PRESET=$*
	@tools/check-sanitizer $*

check-testers: setup
	@$(MAKE) --no-print-directory all
	@tools/check-testers $(BUILD)

lint: setup
	@$(MAKE) --no-print-directory all
	@cmake --preset lint -G Ninja >/dev/null
	@tools/lint

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

bench: all
	@bench/overhead/run $(BUILD)
	@bench/trace/run $(BUILD)

fuzz: setup
	@$(MAKE) --no-print-directory all PRESET=asan
	@tools/fuzz build/asan

install: all
	@cmake --install $(BUILD) --prefix $(prefix)

clean:
	rm -rf build
