#!/bin/bash
# gpu-offload calibrate, profile, measure, report and estimate, with the host device: from measuring to reading.
# shellcheck source=tests/cli/harness.sh
source "$(dirname "$(readlink -f "$0")")/harness.sh"
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache
mkdir "$TMPDIR"
# An ordinary client of BLAS, with calls that are large enough to be considered.
blas=$(find "$(dirname "$offload")/.." -name gpu-offload-calibrate-client | head -1)
if [ -z "$blas" ]; then
    skip "this build has no calibration: there was no libblas to link with"
    finish
    exit 0
fi
holds() { # MESSAGE COMMAND...
    local message=$1
    shift
    if "$@"; then pass; else fail "$message"; fi
}

# ---- Bad input ----
check "calibrate: unknown device" 2 '' "'abacus' is not expected" "$offload" calibrate --device abacus
check "calibrate: no device" 125 '' "libgpuoffload-host.so was not found.*nothing was measured" env GPU_OFFLOAD_BACKEND_DIR="$PWD" "$offload" calibrate --device host
check "calibrate: unknown option" 2 '' "'--fast' is not an option" "$offload" calibrate --fast
check "calibrate: an argument" 2 '' "'now' is not expected" "$offload" calibrate now
check "report: no folder" 2 '' 'takes one folder' "$offload" report
check "report: no such folder" 125 '' 'cannot be read' "$offload" report nowhere
mkdir empty
check "report: no traces" 125 '' 'holds no traces' "$offload" report empty
check "estimate: no folder" 2 '' 'takes one folder' "$offload" estimate
check "estimate: level" 2 '' "'11' is not a level" "$offload" estimate --level 11 empty
check "estimate: no traces" 125 '' 'holds no traces' "$offload" estimate empty
check "profile: none yet" 125 '' "there is no profile.*calibrate" "$offload" profile --device host
check "profile: not one" 125 '' "is not used: line 1" "$offload" profile /etc/passwd
check "profile: two files" 2 '' 'at most one file' "$offload" profile a b
check "calibrate: seconds" 2 '' "'5' is not a number of seconds" "$offload" calibrate --seconds 5
check "calibrate: seconds, not a number" 2 '' "'1m' is not a number of seconds" "$offload" calibrate --seconds 1m
for command in calibrate profile report estimate measure; do
    check "help of $command" 0 "$("$offload" "$command" --help)" '' "$offload" help "$command"
done

check "calibrate: nothing kept" 125 '' "empty holds no measurements of 'gpu-offload calibrate --keep'; no profile" \
    "$offload" calibrate --from empty
for option in --quick '--seconds 20' '--device host' '--keep there'; do
    # shellcheck disable=SC2086 # two words
    check "calibrate: $option and --from" 2 '' '--from measures nothing' "$offload" calibrate $option --from empty
done
mkdir -p measured/cpu
check "calibrate: kept is there" 125 '' "cannot make the folder measured/cpu: it is there already.*nothing was measured" \
    "$offload" calibrate --device host --output it --keep measured
check "calibrate: nowhere to keep" 125 '' "cannot make the folder no/where: No such file" \
    "$offload" calibrate --device host --output it --keep no/where
same "a folder that is not ours" 1 "$(find measured -name cpu | wc -l)"
rmdir measured/cpu measured

# ---- What would make minutes of measuring vain is said first ----
started=$SECONDS
check "calibrate: a folder as output" 125 '' "cannot write empty: Is a directory; name another file" \
    "$offload" calibrate --device host --output empty
check "calibrate: nowhere to write" 125 '' "cannot write .*Not a directory; name another file" \
    env XDG_CONFIG_HOME=/dev/null "$offload" calibrate --device host
check "calibrate: no home" 125 '' "there is no home folder to keep the profile in; name a file with --output" \
    env -u HOME -u XDG_CONFIG_HOME "$offload" calibrate --device host
check "calibrate: a device that does not start" 125 '' "device interface .*; nothing was measured" \
    env GPU_OFFLOAD_BACKEND_DIR="$clients/other_abi" "$offload" calibrate --device host
if [ ! -e /dev/nvidiactl ] && [ -e "$(dirname "$blas")/libgpuoffload-cuda.so" ]; then
    check "calibrate: no GPU" 125 '' "libcuda.so.1 was not found; install .*; nothing was measured" "$offload" calibrate
    "$offload" run --summary "$blas" 1 200 --random 3 >out 2>err
    same "no GPU: why calls were on the CPU" 1 "$(grep -c "on the CPU because the device's driver is not installed" err)"
    same "no GPU: no prediction is the reason" 0 "$(grep -c 'not predicted to be fast enough' err)"
else
    skip "no GPU: there is one, or the CUDA backend was not built"
fi
holds "this took $((SECONDS - started)) s" [ $((SECONDS - started)) -le 15 ]

# ---- Interrupted: nothing is left, the old profile is as it was ----
echo 'not touched' >mine
"$offload" calibrate --quick --device host --output mine >out 2>err &
calibration=$!
for _ in {1..100}; do
    [ -n "$(ls "$TMPDIR"/gpu-offload-calibrate-*/*.trace 2>/dev/null)" ] && break
    sleep 0.1
done
kill -TERM "$calibration"
wait "$calibration"
same "status of an interrupted calibration" 143 $?
same "what it says" 1 "$(grep -c 'interrupted; the profile is as it was' err)"
same "the old profile" 'not touched' "$(cat mine)"
same "temporary folders" '' "$(ls "$TMPDIR")"
for seconds in 0.02 0.1 0.3; do # while the device is tried, and at the start of the workload
    "$offload" calibrate --quick --device host --output mine --keep interrupted >out 2>err &
    calibration=$!
    sleep $seconds
    kill -TERM "$calibration"
    wait "$calibration"
    same "the old profile after $seconds s" 'not touched' "$(cat mine)"
    same "temporary folders after $seconds s" '' "$(ls "$TMPDIR")$(ls interrupted 2>/dev/null)"
done

# ---- Measuring ----
started=$SECONDS
"$offload" calibrate --quick --device host --keep measured >out 2>err
status=$?
same "status of calibrate; $(head -1 err)" 0 $status
holds "calibrate --quick took $((SECONDS - started)) s" [ $((SECONDS - started)) -le 40 ]
profile=$(sed -n 's/^wrote //p' out)
same "where the profile is" "$XDG_CONFIG_HOME/gpu-offload" "$(dirname "$profile")"
same "temporary folders" '' "$(ls "$TMPDIR")"
same "last line" end "$(tail -1 "$profile")"
for place in cpu device; do
    for routine in sgemm dgemm zgemm dtrsm zherk dsyrk; do
        same "curve of $routine, $place" 1 "$(grep -c "^curve $place $routine\$" "$profile")"
    done
done
for copy in 'in pageable' 'out pageable' 'in pinned' 'out pinned'; do
    same "copies $copy" 1 "$(grep -c "^copy $copy " "$profile")"
done

# ---- What was kept gives the same profile, and nothing that was damaged gives any ----
check "calibrate: from what was kept" 0 'wrote again' '' "$offload" calibrate --from measured --output again
same "the same profile" '' "$(diff "$profile" again)"
refused() { # NAME PATTERN
    check "calibrate: $1" 125 '' "$2.*; no profile was written" "$offload" calibrate --from damaged --output again
    rm -r damaged
}
damage() { # FILE COMMAND...: the text or a trace of a copy, changed
    cp -r measured damaged
    local file=$1
    shift
    "$@" <"measured/$file" >"damaged/$file"
}
trace=$(cd measured && echo device/*.trace)
damage measurements head -c 700
refused "measurements cut off" 'damaged/measurements is not used: line [0-9]+: '
damage measurements sed /^end/d
refused "measurements without an end" 'line [0-9]+: it was cut off'
damage measurements sed 's/^point cpu dgemm 48/point cpu dgemn 48/'
refused "an unknown routine" "line [0-9]+: 'cpu dgemn 48.* is not a point"
damage measurements sed '1s/1$/2/'
refused "another version" "line 1: this version reads 'gpu-offload measurements 1'"
damage measurements sed '/^trace cpu/d'
refused "no trace" "it has no traces or no points of the pass 'cpu'"
damage measurements sed 's/^copy in.*/copy in 0 1/'
refused "a copy of nothing" "'in 0 1' is not a copy"
damage "$trace" head -c 70000
refused "a trace cut off" "$trace is not as it was: 70000 bytes of"
damage "$trace" tr '\1' '\2'
refused "a trace that was changed" "$trace is not as it was: .* but others"
cp -r measured damaged && rm "damaged/$trace"
refused "a trace that is missing" "$trace cannot be read"

# ---- Showing ----
"$offload" profile --device host --svg curves.svg >shown 2>err
status=$?
same "status of profile; $(head -1 err)" 0 $status
same "dgemm drawn" 1 "$(grep -c '^dgemm: speed over work' shown)"
same "longest line" 1 "$(awk 'length > 100 { bad = 1 } END { print !bad }' shown)"
if command -v python3 >/dev/null; then
    holds "the SVG is not XML" python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("curves.svg")'
fi
same "not of this machine" 1 "$(sed 's/^cores .*/cores 4711/' "$profile" >other && "$offload" profile --device host other | grep -c 'not used on this machine: it was made with 4711 cores')"

# ---- A profile of another machine is refused with a line, and the program runs ----
cp "$profile" kept
cp other "$profile"
"$offload" run --device host "$blas" 1 200 --random 3 >out 2>err
same "a profile of another machine" 1 "$(grep -c 'is not used: it was made with 4711 cores.*built-in estimate' err)"
head -c 700 kept >"$profile"
"$offload" run --device host "$blas" 1 200 --random 3 >out 2>err
same "a profile that is cut off" 1 "$(grep -c 'is not used: line.*built-in estimate' err)"
cp kept "$profile"

# ---- A library that crashes: the routine is left out, the rest is measured ----
LD_PRELOAD=$clients/libcli_crash.so "$offload" calibrate --seconds 10 --device host --output crashed >out 2>err
status=$?
same "status of a calibration with a crash; $(head -1 err)" 0 $status
# In both passes: the host device computes with the same library.
holds "what it says" grep -q 'calibrate: dtrmm ended the workload with signal 11 .* and is left out$' err
holds "and of one that ended" grep -q 'calibrate: cherk ended the workload with status 3 and is left out$' err
same "other lines on standard error" '' "$(grep -v ' and is left out$' err)"
for routine in dgemm strmm zherk dtrsm; do
    same "curve of $routine beside it" 1 "$(grep -c "^curve cpu $routine\$" crashed)"
done
same "curves of routines that crash" 0 "$(grep -cE '^curve cpu (dtrmm|cherk)$' crashed)"

# ---- measure: everything on the CPU, recorded ----
check "measure: no program" 2 '' 'no program is given; usage: gpu-offload measure' "$offload" measure
check "measure: not its option" 2 '' "there is no option '--level'" "$offload" measure --level 3 true
# shellcheck disable=SC2016 # for the shell that is started
check "measure: no such program" 127 '' '' bash -c '"$1" measure nowhere 2>/dev/null' - "$offload"
GPU_OFFLOAD_DEVICE=host GPU_OFFLOAD_FORCE=1 "$offload" measure -- "$blas" 1 200 --random 3 >out 2>err
same "status of measure" 0 $?
folder=$(sed -n 's/^gpu-offload: the trace goes to \(gpu-offload-trace-[0-9]*\); .*report.*estimate.*/\1/p' err)
same "measure names the folder of its trace" 1 "$(find "${folder:-nowhere}" -name '*.trace' 2>/dev/null | wc -l)"
same "and says nothing else" 1 "$(wc -l <err)"
"$offload" report "$folder" >reported
same "and why" 'everything runs on the CPU in this mode' \
    "$(sed -n 's/^ *[0-9]* calls *[0-9.]* s  //p' reported | grep -v 'too small' | sort -u)"
same "everything ran on the CPU" 0 "$(awk '$1 == "device" { print $2 }' reported)"
"$offload" measure --trace there --summary-file "$work/summary" "$clients/cli_repeat" 2 200 >out 2>err
same "measure gives the program's status" 42 $?
same "a folder that was given" 1 "$(find there -name '*.trace' | wc -l)"
same "measure and summary" 'dgemm cpu 2' "$(cat summary)"

# A call of LAPACK that fails on the CPU is recorded as such, and compared with nothing.
"$offload" measure --trace verdicts "$clients/cli_verdict" 2>err
same "measure of a failing factorisation" 42 $?
same "report counts it" 1 "$("$offload" report verdicts | grep -c '^  1 calls of LAPACK failed')"

# ---- Tracing, report, estimate ----
"$offload" run --device none --trace traces "$blas" 1 200 --random 3 >out 2>err
same "tracing says nothing" '' "$(cat err)"
same "one trace" 1 "$(find traces -name '*.trace' | wc -l)"
"$offload" report traces >reported 2>err
status=$?
same "status of report; $(head -1 err)" 0 $status
same "routines of the report" 4 "$(grep -cE '^  [sdcz]gemm +CPU ' reported)"
"$offload" estimate --device host traces >estimated 2>err
status=$?
same "status of estimate; $(head -1 err)" 0 $status
same "estimate names the profile" 1 "$(grep -c 'by its profile' estimated)"
same "estimate counts calls" 1 "$(grep -cE '^  [0-9]+ calls took' estimated)"
"$offload" estimate --check --device host traces >checked 2>err
status=$?
same "status of check; $(head -1 err)" 0 $status
same "rows of check" 2 "$(grep -cE '^\| (gemm|all) +\| CPU +\| +[0-9]+ \|' checked)"
same "lines of calls" 1 "$("$offload" estimate --calls --device host traces | grep -cE '^CPU +dgemm' | sed 's/[1-9][0-9]*/1/')"
# Cut off anywhere, a trace is read as far as it goes.
trace=$(find traces -name '*.trace')
for size in 0 100 5000 65536 65900 100000; do
    mkdir -p cut && head -c "$size" "$trace" >cut/x.trace
    "$offload" report cut >out 2>err
    status=$?
    holds "report of $size bytes: status $status" [ "$status" = 0 -o "$status" = 125 ]
done
finish
