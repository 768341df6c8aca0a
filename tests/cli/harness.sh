# Sourced by the tests of the command: a temporary folder, `check`, and the last line.
# shellcheck shell=bash disable=SC2034
set -u
offload=${GPU_OFFLOAD_COMMAND:?the gpu-offload executable to test}
clients=${CLIENTS:?the folder of the test programs}
unset "${!GPU_OFFLOAD_@}" LD_PRELOAD
work=$(mktemp -d "${TMPDIR:-/tmp}/cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export HOME=$work XDG_CONFIG_HOME=$work/config
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() { failed=$((failed + 1)); echo "FAIL $*"; }
skip() { skipped=$((skipped + 1)); echo "SKIP $*"; }

# check NAME STATUS STDOUT STDERR COMMAND...: STDOUT is exact, STDERR a pattern for one line; '' for nothing.
check() {
    local name=$1 status=$2 out=$3 err=$4 got
    shift 4
    "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" != "$status" ]; then
        fail "$name: status $got, expected $status; $(head -1 err)"
    elif [ "$(cat out)" != "$out" ]; then
        fail "$name: printed '$(head -3 out)', expected '$out'"
    elif [ -z "$err" ] && [ -s err ]; then
        fail "$name: said on standard error: $(head -1 err)"
    elif [ -n "$err" ] && { ! grep -qE -- "$err" err || [ "$(wc -l <err)" != 1 ]; }; then
        fail "$name: said '$(cat err)', expected one line with '$err'"
    else
        pass
    fi
}

# same MESSAGE EXPECTED GOT
same() {
    if [ "$2" = "$3" ]; then pass; else fail "$1: '$3', expected '$2'"; fi
}

finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
