#!/bin/bash
# gpu-offload run: options, the configuration file, what the program gets and what it gives back.
# shellcheck source=tests/cli/harness.sh
source "$(dirname "$(readlink -f "$0")")/harness.sh"
run() { "$offload" run "$@"; }
client=$clients/cli_client
library_path=$("$offload" run env | sed -n 's/^LD_PRELOAD=//p')

# ---- Bad input ----
check "no command" 2 '' '' bash -c "'$offload' 2>/dev/null"
check "unknown command" 2 '' "no command 'fly'" "$offload" fly
check "help of an unknown command" 2 '' "no command 'fly'" "$offload" help fly
check "unknown option" 2 '' "no option '--gpu-please'" run --gpu-please true
check "unknown short option" 2 '' "no option '-x'" run -x true
check "unknown device" 2 '' "'abacus' is not a value.*auto\|cuda\|host" run --device abacus true
check "level out of range" 2 '' "'11' is not a value.*1..10" run --level 11 true
check "level that is no number" 2 '' "'5x' is not a value" run --level 5x true
check "option without its value" 2 '' "'--device' needs a value" run --device
check "no program" 2 '' 'no program' run --level 3
check "no program after --" 2 '' 'no program' run --
check "bad variable" 2 '' "'maybe' is not a value for GPU_OFFLOAD_FORCE" env GPU_OFFLOAD_FORCE=maybe "$offload" run true
check "missing program" 127 '' "no program 'no-such-program'" run no-such-program
check "missing path" 127 '' "no program './no/such'" run ./no/such
check "empty name" 127 '' "no program ''" run ''
: >plain && chmod 644 plain
if [ "$(id -u)" != 0 ] || ! [ -x plain ]; then
    check "not executable" 126 '' "cannot execute './plain': Permission denied" run ./plain
fi
check "a folder" 126 '' "cannot execute '.*': Is a directory" run "$work"
printf '#!/no/such/interpreter\n' >orphan && chmod +x orphan
check "missing interpreter" 126 '' "interpreter.*does not exist" run ./orphan
head -c 50 "$client" >./cut && chmod +x cut
check "damaged program" 126 '' "cannot execute './cut'" run ./cut
check "help" 0 "$(run --help)" '' "$offload" help run
for option in device level force summary; do
    same "--help does not list --$option" 1 "$(run --help | grep -cE -- "--(\[no-\])?$option( |\$)")"
done

# ---- What the program gives back ----
for status in 0 1 2 37 125 126 127 255; do
    check "exit status $status" "$status" '' '' run "$client" status $status
done
ulimit -c 0
for signal in 2 9 11 15; do
    check "signal $signal" $((128 + signal)) '' '' bash -c "{ '$offload' run '$client' signal $signal; } 2>/dev/null; exit \$?"
done
check "same process" 0 same '' bash -c "( echo \$BASHPID >pid; exec '$offload' run '$client' pid ) >got; cmp -s pid got && echo same"
echo 'through the pipe' >text
check "standard input" 0 'through the pipe' '' bash -c "'$offload' run '$client' copy <text"
check "arguments" 0 "[$client][arguments][a b][][*][--level][-x][q'uote]" '' \
    run "$client" arguments 'a b' '' '*' --level -x "q'uote"
check "options end at the program" 0 "[$client][arguments][--force]" '' run --level 3 -- "$client" arguments --force

# ---- Other kinds of programs ----
check "static program" 7 '' '' run "$clients/cli_client_static" status 7
check "static program, verbose" 7 '' 'linked statically' run --verbose "$clients/cli_client_static" status 7
printf '#!/bin/sh\nexit 9\n' >script && chmod +x script
check "script" 9 '' '' run ./script
printf 'exit 11\n' >bare && chmod +x bare
check "script without an interpreter line" 11 '' '' run ./bare
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ -u /bin/su ]; then
    cp "$client" privileged && chown 1 privileged && chmod 4755 privileged && chmod 755 "$work"
    check "set-user-ID program" 5 '' '' run ./privileged status 5
    check "set-user-ID program, verbose" 5 '' 'set-user-ID' run --verbose ./privileged status 5
else
    skip "set-user-ID program: needs root to make one"
fi
cp "$client" foreign && printf '\267' | dd of=foreign bs=1 seek=18 conv=notrunc status=none # AArch64
check "foreign architecture" 126 '' "cannot execute './foreign': .*another machine" run ./foreign

# ---- Devices that cannot be used: a line, and the program goes on ----
product=$clients/cli_product
check "program with BLAS, host device" 42 '' '' run --device host --force "$product"
GPU_OFFLOAD_SUMMARY=$work/summary run --device host --force "$product"
same "its call reached the device" 'dgemm host 1' "$(grep ' host ' summary)"
# Children write files of their own, whatever file that is; and no file can hold the program up or end it.
cat >parent <<EOF
#!/bin/sh
"$product"
"$product"
exit 7
EOF
chmod +x parent
GPU_OFFLOAD_SUMMARY=$work/family check "a parent with children" 7 '' '' run --device host --force ./parent
same "the summary of the parent, which called nothing" '' "$(cat family)"
same "the summaries of the children" 2 "$(cat family.* | grep -c '^dgemm host 1$')"
GPU_OFFLOAD_SUMMARY=$work/outer check "run inside run" 42 '' '' run "$offload" run --device host --force "$product"
same "the summary of a run inside a run" 'dgemm host 1' "$(cat outer)"
mkfifo pipe
check "summary into a pipe without a reader" 42 '' 'cannot write the summary to .*pipe' \
    timeout 20 "$offload" run --summary-file pipe "$product"
check "summary into a full device" 42 '' 'cannot write the summary to /dev/full' run --summary-file /dev/full "$product"
check "summary into a folder" 42 '' 'cannot write the summary to' run --summary-file . "$product"
check "summary where files may not grow, nor the message's" 42 '' '' \
    bash -c "ulimit -f 0; exec '$offload' run --summary-file '$work/small' '$product'"
check "summary table that nobody reads" 42 '' '' python3 -c 'import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
sys.exit(subprocess.run(sys.argv[1:], stderr=writer).returncode)' "$offload" run --summary "$product"
mkdir empty
check "no backend" 42 '' "libgpuoffload-host.so was not found in $work/empty; .*the program runs on the CPU" \
    run --device host --force --backend-dir empty "$product"
mkdir strange && mkfifo strange/libgpuoffload-host.so
check "a pipe for a backend" 42 '' "libgpuoffload-host.so was not found in $work/strange; .*the program runs on the CPU" \
    timeout -s KILL 20 "$offload" run --device host --force --backend-dir strange "$product"
rm strange/libgpuoffload-host.so && head -c 5000 /dev/urandom >strange/libgpuoffload-host.so
check "garbage for a backend" 42 '' 'could not be loaded .*invalid ELF.*the program runs on the CPU' \
    run --device host --force --backend-dir strange "$product"
cp "$clients/libcli_blas.so" strange/libgpuoffload-host.so
check "another library for a backend" 42 '' 'is not a gpu-offload backend.*the program runs on the CPU' \
    run --device host --force --backend-dir strange "$product"
check "backend of another version" 42 '' 'device interface .*the program runs on the CPU' \
    run --device host --force --backend-dir "$clients/other_abi" "$product"
# What files tell of a device is said before the program starts, also where it makes no call, and once for all.
check "no backend, no call" 0 '' "libgpuoffload-host.so was not found in $work/empty; .*the program runs on the CPU" \
    run --device host --backend-dir empty true
check "no backend, children" 0 '' "libgpuoffload-host.so was not found in $work/empty" \
    run --device host --force --backend-dir empty sh -c "$product; '$offload' run $product; true"
check "no backend, no program either" 127 '' "there is no program 'nowhere'" \
    run --device host --backend-dir empty nowhere
if [ -e "$(dirname "$library_path")/libgpuoffload-cuda.so" ]; then
    mkdir old && : >old/libcuda.so.470.82.01 && ln -s libcuda.so.470.82.01 old/libcuda.so.1
    check "an old driver" 3 '' 'driver is too old .*470.*update .*the program runs on the CPU' \
        env LD_LIBRARY_PATH=old "$offload" run --device cuda sh -c 'exit 3'
    if [ ! -e /dev/nvidiactl ]; then
        check "no driver, no call" 3 '' 'libcuda.so.1 was not found; install .*the program runs on the CPU' \
            run --device cuda sh -c 'exit 3'
    fi
fi
if [ ! -e /dev/nvidiactl ]; then
    if [ -e "$(dirname "$library_path")/libgpuoffload-cuda.so" ]; then
        check "no driver" 42 '' 'libcuda.so.1.*install .*driver.*the program runs on the CPU' \
            run --device cuda --force "$product"
    else
        skip "no driver: the CUDA backend was not built"
    fi
fi
check "no device, without asking for one" 42 '' '' env CUDA_VISIBLE_DEVICES= "$offload" run "$product"

# ---- The environment ----
get() { "$@" | sed -n "s/^$variable=//p"; }
variable=LD_PRELOAD
library=$(get "$offload" run env)
case $library in
    */libgpuoffload.so) pass ;;
    *) fail "LD_PRELOAD is '$library'" ;;
esac
marker=$clients/libcli_marker.so
same "an existing LD_PRELOAD is not kept" "$library:$marker" "$(get env LD_PRELOAD="$marker" "$offload" run env)"
same "the user's preload library is not loaded" marker "$(env LD_PRELOAD="$marker" "$offload" run "$client" | sort -u)"
same "run inside run preloads twice" "$library" "$(get "$offload" run "$offload" run env)"
variable=FOO
same "the environment changed" 'x y' "$(FOO='x y' get "$offload" run env)"
before=$(env | grep -v '^_=' | sort)
after=$(run env | grep -vE '^(_|LD_PRELOAD)=' | sort)
same "without options the environment changed: $(diff <(echo "$before") <(echo "$after"))" "$after" "$before"

# ---- Options, variables, the file: in this order ----
variable=GPU_OFFLOAD_LEVEL
mkdir -p config/gpu-offload
printf '# a comment\n\n  level = 3\nforce=1\n' >config/gpu-offload/config
same "the configuration file has no effect" 3 "$(get "$offload" run env)"
same "a variable does not win over the file" 4 "$(GPU_OFFLOAD_LEVEL=4 get "$offload" run env)"
same "an empty variable wins over the file" 3 "$(GPU_OFFLOAD_LEVEL='' get "$offload" run env)"
same "an option does not win over a variable" 5 "$(GPU_OFFLOAD_LEVEL=4 get "$offload" run --level 5 env)"
same "a bad variable matters although an option wins" 5 "$(GPU_OFFLOAD_LEVEL=bad get "$offload" run --level=5 env)"
variable=GPU_OFFLOAD_FORCE
same "a flag of the configuration file has no effect" 1 "$(get "$offload" run env)"
same "--no-force does not win over the file" 0 "$(get "$offload" run --no-force env)"
variable=GPU_OFFLOAD_SUMMARY
same "--summary-file is not made absolute" "$work/counts.txt" "$(get "$offload" run --summary-file counts.txt env)"
config=config/gpu-offload/config
printf 'level = 3\nlevle = 4\n' >$config
check "misspelt setting in the file" 2 '' "$config:2: there is no setting 'levle'" run true
printf '\n\nlevel = eleven\n' >$config
check "bad value in the file" 2 '' "$config:3: 'eleven' is not a value" run true
printf 'level\n' >$config
check "line without =" 2 '' "$config:1: 'level' is not of the form" run true
rm $config && mkdir $config
check "the file is a folder" 2 '' "$config: Is a directory" run true
rmdir $config
check "no home folder" 0 '' '' env -u HOME -u XDG_CONFIG_HOME "$offload" run true
check "home that does not exist" 0 '' '' env -u XDG_CONFIG_HOME HOME=/no/such "$offload" run true
mkdir -p home/.config/gpu-offload && echo 'level = 8' >home/.config/gpu-offload/config
variable=GPU_OFFLOAD_LEVEL
same "the .config of the home folder is not read" 8 "$(XDG_CONFIG_HOME='' HOME=$work/home get "$offload" run env)"

# ---- Where the libraries are ----
root=$(dirname "$(dirname "$offload")")
ln -s "$offload" link
check "called through a link" 0 '' '' ./link run true
mkdir -p 'a b' lonely/bin && cp "$offload" lonely/bin/
(cd "$root" && find . \( -name 'libgpuoffload*.so' -o -name gpu-offload -type f \) -exec cp --parents {} "$work/a b" \;)
check "a folder with a blank" 125 '' 'cannot preload .*move gpu-offload' "a b/bin/gpu-offload" run true
check "libraries missing" 125 '' 'libgpuoffload.so is not where it belongs' lonely/bin/gpu-offload run true
finish
