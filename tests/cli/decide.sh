#!/bin/bash
# Decisions of whole programs on the host device: told to be slow at copying, quick at computing or short of
# memory, with profiles that are right and wrong.
# shellcheck source=tests/cli/harness.sh
source "$(dirname "$(readlink -f "$0")")/harness.sh"
export XDG_CACHE_HOME=$work/cache
profile=$("$offload" profile --device host 2>&1 | sed -n 's/.*there is no profile \(.*\);.*/\1/p')
mkdir -p "$(dirname "$profile")"

# claim CPU DEVICE COPY START: a profile of this machine with these speeds.
claim() {
    cat >"$profile" <<PROFILE
gpu-offload profile 2
start $4
copy in pageable 0 $3
copy out pageable 0 $3
curve cpu dgemm
point 1e6 $1
curve device dgemm
point 1e6 $2
end
PROFILE
}

pause=0
# runs CALLS ORDER OPTION...: runs the program; sets device and cpu to the calls that ran there.
runs() {
    local calls=$1 order=$2
    shift 2
    rm -f summary
    "$offload" run --device host --summary-file "$work/summary" "$@" "$clients/cli_repeat" "$calls" "$order" "$pause" >out 2>err
    local status=$?
    same "$* $calls calls: results; $(head -1 err)" 42 $status
    device=$(awk '$1 == "dgemm" && $2 == "host" { print $3 }' summary)
    cpu=$(awk '$1 == "dgemm" && $2 == "cpu" { print $3 }' summary)
    device=${device:-0} cpu=${cpu:-0}
}

# A profile that makes each level's answer clear: 2 times as fast goes from level 3 on.  The program is short, so that
# what it learns changes nothing: the first call decides.
for level in 1 2 3 4 5 6 7 8 9 10; do
    claim 1e9 2.01e9 1e15 0
    runs 1 200 --level $level
    same "twice as fast, level $level" "$([ $level -ge 3 ] && echo 1 || echo 0)" "$device"
done

# The start must pay first: 16 million flops save 16 ms each by the claim, and 2 * 0.05 s are needed.
claim 1e9 1e12 1e12 0.05
runs 4 200 --level 5
same "a short program does not start the device" 0 "$device"
same "and runs on the CPU" 4 "$cpu"

# The profile praises the device, which is a thousand times slower than it says: left within 20 calls.
claim 1e8 1e12 1e12 0
runs 100 128 --host-copy-rate 10000000
[ "$device" -ge 1 ] && [ "$device" -le 20 ]
same "a device with slow copies is left within 20 calls ($device)" 0 $?
same "all calls" 100 $((device + cpu))

# The profile says that the CPU is a thousand times faster than it can be: learned on the CPU, then the device is tried.
# It really is as fast as the CPU, so where later calls run is up to chance; tests/unit/model has this with a clock of
# its own.
claim 1e13 1e12 1e12 0
runs 100 200
[ "$device" -ge 1 ]
same "a CPU that is slower than claimed is left ($device)" 0 $?

# Not enough memory even for tiles: every call runs, on the CPU.
claim 1e9 1e12 1e12 0
runs 10 200 --host-memory 3000
same "no room on the device" 10 "$cpu"

# Other programs: asked about only after a second without work of our own, and more than level 5 tolerates.
claim 1e9 1e12 1e12 0
pause=1100
runs 3 200 --host-utilisation 70 --level 5
same "a busy device is left alone" '1 2' "$device $cpu"
runs 3 200 --host-utilisation 70 --level 8
same "level 8 tolerates it" '3 0' "$device $cpu"
pause=0
runs 20 200 --host-utilisation 70 --level 5 --summary
# Where they ran depends on what was learned of this machine's speed; the reason must not be the load.
same "the load is our own" 0 "$(grep -c 'using the device' err)"

# ---- Forks ----
# forks WHEN: the program's summaries; sets own and child to "where calls" of the process and of its child.
forks() {
    rm -f "$work"/summary*
    "$offload" run --device host --force --summary --summary-file "$work/summary" "$clients/cli_forks" "$1" >out 2>err
    local status=$?
    same "forking $1: results; $(head -1 err)" 42 $status
    own=$(awk '{ print $2, $3 }' summary)
    child=$(awk '{ print $2, $3 }' summary.*)
}
words='1 on the CPU because a device cannot be used in a child of the process that started it'
forks before
same "a child made before the start uses the device" 'host 1, host 1' "$own, $child"
same "and there is nothing to say" 0 "$(grep -c 'on the CPU because' err)"
forks after
same "a child of a process with a device stays on the CPU" 'host 1, cpu 1' "$own, $child"
same "and says why in its summary" 1 "$(grep -c "^  $words\$" err)"
forks both
same "each child by itself" $'cpu 1\nhost 1' "$(sort <<<"$child")"

# Nothing that a profile says changes results.
for speeds in '1e-300 1e300' '1e300 1e-300' '1 1'; do
    # shellcheck disable=SC2086 # two words
    claim $speeds 1e9 0
    runs 5 128
    same "all calls with $speeds" 5 $((device + cpu))
done
finish
