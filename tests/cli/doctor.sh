#!/bin/bash
# gpu-offload doctor: its exit status and what it says about a program.
# shellcheck source=tests/cli/harness.sh
source "$(dirname "$(readlink -f "$0")")/harness.sh"
finish
