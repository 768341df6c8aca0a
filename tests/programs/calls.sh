#!/bin/bash
# Every routine with arguments legal and illegal leaves the same behind with and without gpu-offload.
#
#   calls.sh GPU-OFFLOAD DEVICE PROGRAM [SEED [COUNT]]       PROGRAM is what calls.c became
#
# Lines are compared word by word, numbers with an exponent up to rounding.
set -u
offload=$1 device=$2 program=$3 seed=${4:-1} count=${5:-60}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!GPU_OFFLOAD_@}"
"$offload" doctor --device "$device" 2>/dev/null | grep -q "^  $device  *ready" || { echo "skipped: there is no device '$device'"; exit 77; }
"$program" "$seed" "$count" >"$work/bare" 2>&1 || { echo "the program failed by itself:"; tail -3 "$work/bare"; exit 1; }
GPU_OFFLOAD_SUMMARY=$work/summary "$offload" run --device "$device" --force -- "$program" "$seed" "$count" >"$work/ours" 2>&1
result=$?
[ "$result" = 0 ] || { echo "status $result with gpu-offload"; tail -3 "$work/ours"; exit 1; }
sed -i '/^gpu-offload: /d' "$work/ours" # the advice to calibrate comes once a machine
awk -v other="$work/ours" '
    function same(a, b, limit) {
        if (a == b) return 1
        if (a !~ /^[0-9.]+e[-+]/ || b !~ /^[0-9.]+e[-+]/) return 0
        return (a > b ? a - b : b - a) <= limit * (a + b)
    }
    {
        if ((getline line <other) != 1) { print "lines are missing: " $0; bad++; exit }
        words = split(line, word, " ")
        right = words == NF
        for (i = 1; i <= NF && right; i++) right = same($i, word[i], $1 ~ /^[sc]/ ? 1e-3 : 1e-9)
        if (right) next
        if (bad++ < 10) print "without: " $0 "\nwith:    " line
        routines[$1]++
    }
    END {
        if ((getline line <other) == 1) { print "one line more: " line; bad++ }
        for (routine in routines) print routine ": " routines[routine] " differ"
        print NR " lines, " bad + 0 " differ"
        exit bad > 0
    }' "$work/bare" || exit 1
awk -v device="$device" '{ if ($2 == device) there += $3; else here += $3 } END {
    print there + 0 " calls on " device ", " here + 0 " on the CPU"; exit there == 0 }' "$work/summary"
