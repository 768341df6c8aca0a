#!/bin/bash
# Builds the clients of this folder and runs them with and without the preload library.
#
# GPU_OFFLOAD_COMMAND is the command under test.  Real libraries that are not installed are left out, with a line.
set -u
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
command=${GPU_OFFLOAD_COMMAND:?}
cc=${CC:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export OPENBLAS_NUM_THREADS=1
passed=0 failed=0

# check NAME COMMAND...: passes if the command succeeds
check() {
    local name=$1
    shift
    if "$@" >"$name.out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED $name: $(tail -3 "$name.out" | tr '\n' ' ')"
    fi
}
must() { "$@" || { echo "cannot build: $*" >&2; exit 1; }; }

must "$cc" -O2 "$here/tail_calls.c" -o tail_calls -ldl
for binding in lazy now; do
    for width in 32 64; do
        must "$cc" -O2 -fPIC -shared -DINT="int${width}_t" "$here/marked_blas.c" -o "libmarked$width.so"
        must "$cc" -O2 -fPIC -shared "$here/tail_forward.c" -o "marked$width.$binding.so" \
            -L. "-lmarked$width" "-Wl,-rpath,$work,-z,$binding"
        must "$cc" -O2 -fPIC -shared -DKEEP "$here/tail_forward.c" -o "keeps$width.$binding.so" \
            -L. "-lmarked$width" "-Wl,-rpath,$work,-z,$binding"
    done
    for pair in "32 64" "64 32"; do
        read -r first second <<<"$pair"
        plugins=("./marked$first.$binding.so" $((first / 8)) "./marked$second.$binding.so" $((second / 8)))
        check "bare-$first-$binding" ./tail_calls "${plugins[@]}"
        check "cpu-$first-$binding" env EXPECT_CPU=1 "$command" run --device none ./tail_calls "${plugins[@]}"
        keeping=("./keeps$first.$binding.so" $((first / 8)) "./keeps$second.$binding.so" $((second / 8)))
        check "keeping-$first-$binding" env EXPECT_CPU=1 "$command" run --device none ./tail_calls "${keeping[@]}"
        check "host-$first-$binding" "$command" run --device host --force ./tail_calls "${plugins[@]}"
    done
    if "$cc" -O2 -fPIC -shared "$here/tail_forward.c" -o "real32.$binding.so" -Wl,--no-as-needed -lblas "-Wl,-z,$binding" &&
        "$cc" -O2 -fPIC -shared "$here/tail_forward.c" -o "real64.$binding.so" -Wl,--no-as-needed -lblas64 "-Wl,-z,$binding"; then
        check "real-$binding" "$command" run --device host --force \
            ./tail_calls "./real32.$binding.so" 4 "./real64.$binding.so" 8 "./marked64.$binding.so" 8 "./marked32.$binding.so" 4
    else
        echo "left out: libblas and libblas64 are not both installed"
    fi
done

# Loads that are under way: by a path, which is searched nowhere, and by a name that is.
must "$cc" -O2 "$here/racing.c" -o racing -ldl -lpthread
must "$cc" -O2 -fPIC -shared "$here/slow_dlopen.c" -o libslow.so -ldl
for late in ./marked64.now.so marked64.now.so; do
    for early in ./marked32.now.so marked32.lazy.so; do
        racing=(env "LD_LIBRARY_PATH=$work" "LD_PRELOAD=$work/libslow.so" "SLOW_DLOPEN=$late")
        check "racing-bare-${late:0:1}-${early:0:1}" timeout 60 "${racing[@]}" ./racing "$early" 4 "$late" 8
        check "racing-${late:0:1}-${early:0:1}" timeout 60 "${racing[@]}" "$command" run --device none \
            ./racing "$early" 4 "$late" 8
    done
done

# Calls after a longjmp out of the library are the program's own, and all are counted.
if "$cc" -O1 "$here/jumps.c" -o jumps -lblas; then
    rm -f summary
    calls=$(GPU_OFFLOAD_SUMMARY=summary "$command" run --device host --force ./jumps)
    check jumps test "$calls" = "$(awk '$1 == "dgemm" && $2 == "host" { print $3 }' summary)"
fi
if "$cc" -O1 "$here/fork_signals.c" -o fork_signals -lblas -lpthread; then
    check fork-signals timeout 60 "$command" run --device host --force ./fork_signals
fi

# Small stacks and coroutines' stacks: as far as the library by itself is content with them.
if "$cc" -O1 "$here/stacks.c" -o stacks -lblas -lpthread; then
    for kind in thread coroutine fiber; do
        for bytes in 16384 32768 131072; do
            ./stacks $kind $bytes || continue
            for way in '' '--residency always' '--trace stacks.trace'; do
                # shellcheck disable=SC2086
                check "stack-$kind-$bytes-${way// /_}" "$command" run --device host --force $way ./stacks $kind $bytes
            done
            check "stack-$kind-$bytes-auto" "$command" run ./stacks $kind $bytes
        done
    done
fi

# Handlers that leave a call; and what calls leave alone, on the device, on the CPU and with a trace.
if "$cc" -O1 "$here/handlers.c" -o handlers -lblas; then
    rm -f summary
    read -r completed begun < <(GPU_OFFLOAD_SUMMARY=summary timeout 60 "$command" run --device host --force ./handlers)
    on_device=$(awk '$1 == "dgemm" && $2 == "host" { print $3 }' summary)
    check handlers test "${completed:-1}" -le "${on_device:-0}" -a "${on_device:-0}" -le "${begun:-0}"
fi
if "$cc" -O1 "$here/untouched.c" -o untouched -lblas -lpthread -lm && ./untouched >/dev/null; then
    for way in '--device host --force' '--device host' '--device none' ''; do
        # shellcheck disable=SC2086
        check "untouched${way// /_}" "$command" run $way ./untouched
        # shellcheck disable=SC2086
        check "untouched-traced${way// /_}" "$command" run $way --trace untouched.trace ./untouched
    done
    rm -f summary
    calls=$(GPU_OFFLOAD_SUMMARY=summary "$command" run --device host --force ./untouched)
    check arithmetic test "$calls" = "$(awk '$1 == "dgemm" && $2 == "host" { print $3 }' summary)"
fi

# However a program ends, what it did is written, once.
if "$cc" -O1 "$here/endings.c" -o endings -lblas; then
    for way in return _exit _Exit quick signal late fork vfork; do
        rm -rf counts* trace
        "$command" run --device none --summary --summary-file counts --trace trace ./endings $way 2>tables
        status=$?
        child=$(cat counts.[0-9]* 2>/dev/null)
        calls=2 tables=1 children='' ended=1
        [ $way = fork ] && tables=2 children='dgemm cpu 1' ended=2
        [ $way = vfork ] || [ $way = late ] && calls=3
        check "ending-$way" test "$status:$(cat counts):$child:$(grep -c '^gpu-offload: ' tables)" = \
            "7:dgemm cpu $calls:$children:$tables"
        "$command" report trace >reported
        check "ending-trace-$way" test "$(grep -c '^  process ' reported):$(grep -c 'without saying so' reported)" = "$ended:0"
    done
fi

if "$cc" -O1 "$here/last_thread.c" -o last_thread -lblas -lpthread; then
    check last-thread env GPU_OFFLOAD_STAGING_THREADS=2 timeout -s KILL 30 "$command" run --device host --force ./last_thread
fi

# OpenBLAS by itself may hang where a process ends so: with the reference library only.
reference=/usr/lib/$("$cc" -print-multiarch)/blas
if [ -e "$reference/libblas.so.3" ] && "$cc" -O1 "$here/leaving.c" -o leaving -lblas -lpthread; then
    for round in 1 2 3 4 5 6 7 8; do
        LD_LIBRARY_PATH=$reference timeout -s KILL 30 "$command" run --device host --force ./leaving >leaving.out 2>&1
        check "leaving-$round" test "$?" = 7
    done
else
    echo "left out: a process that ends during calls, for want of the reference BLAS"
fi

if "$cc" -O1 "$here/scalars.c" -o scalars -lblas; then
    ./scalars >expected
    "$command" run --device host --force ./scalars >got
    check scalars cmp expected got
fi

if "${CXX:-c++}" -O1 "$here/throws.cc" -o throws -lblas -lpthread; then
    rm -f summary
    calls=$(GPU_OFFLOAD_SUMMARY=summary "$command" run --device host --force ./throws)
    check throws test "$calls" = "$(awk '$1 == "dgemm" && $2 == "host" { print $3 }' summary)"
else
    echo "left out: exceptions, for want of a C++ compiler or libblas"
fi

# A constructor that waits for a thread which calls BLAS; with one for everybody, and with one of the library's own.
if "$cc" -O1 -fPIC -shared -DLIBRARY "$here/waiting.c" -o waiting.so -lblas -lpthread; then
    must "$cc" -O1 "$here/waiting.c" -o waiting_local -ldl
    must "$cc" -O1 "$here/waiting.c" -o waiting_global -ldl -Wl,--no-as-needed -lblas
    for scope in local global; do
        check "waiting-$scope" timeout 20 "$command" run --device host --force --trace waiting.trace "./waiting_$scope" ./waiting.so
    done
fi

# Weak references, of the program and of plugins with and without a BLAS.
for binding in lazy now; do
    for expected in 0 1; do
        library=$([ $expected = 0 ] || echo -lblas)
        # shellcheck disable=SC2086
        "$cc" -O1 -fPIE -pie -DEXPECTED=$expected "$here/weak.c" -o weak$expected -ldl -Wl,--no-as-needed,-z,$binding $library &&
            "$cc" -O1 -fPIC -shared -DLIBRARY "$here/weak.c" -o weak$expected.so -Wl,--no-as-needed,-z,$binding $library
    done
    if [ -e weak1.so ]; then
        check weak-bare-$binding ./weak0 ./weak1.so ./weak0.so
        check weak-0-$binding "$command" run --device host --force ./weak0 ./weak1.so ./weak0.so
        check weak-1-$binding "$command" run --device host --force ./weak1 ./weak1.so
    fi
done

# Functions that only have the names of BLAS routines, alone and beside a BLAS.
must "$cc" -O1 -fPIC -shared -DLIBRARY "$here/foreign.c" -o libforeign.so
must "$cc" -O1 "$here/foreign.c" -o foreign -L. -lforeign "-Wl,-rpath,$work"
check foreign "$command" run --device host --force ./foreign
if "$cc" -O1 "$here/foreign.c" -o foreign_beside -Wl,--no-as-needed -L. -lforeign -lblas "-Wl,-rpath,$work"; then
    check foreign-beside "$command" run --device host --force ./foreign_beside
fi
must "$cc" -O1 -fPIC -shared -DLIBRARY "$here/foreign.c" -o libforeign.so -Wl,--no-as-needed -lblas # by its dependencies
check foreign-dependent "$command" run --device host --force ./foreign

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
