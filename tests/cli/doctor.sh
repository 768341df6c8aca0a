#!/bin/bash
# gpu-offload doctor: its exit status and what it says about devices and programs.
# shellcheck source=tests/cli/harness.sh
source "$(dirname "$(readlink -f "$0")")/harness.sh"
product=$clients/cli_product

# finds NAME STATUS PATTERN ARGUMENT...: doctor's exit status, and a line that it prints.  Its own lines are
# joined first, since long ones are broken.
finds() {
    local name=$1 status=$2 pattern=$3 got
    shift 3
    "$offload" doctor "$@" >out 2>err </dev/null
    got=$?
    if [ "$got" != "$status" ]; then
        fail "$name: status $got, expected $status; $(head -1 err)"
    elif [ -s err ]; then
        fail "$name: said on standard error: $(head -1 err)"
    elif ! tr -s ' \n' ' ' <out | grep -qE -- "$pattern"; then
        fail "$name: no '$pattern' in: $(tail -12 out)"
    else
        pass
    fi
}

check "unknown option" 2 '' "'--bogus' is no option" "$offload" doctor --bogus
check "option without its value" 2 '' "'--device' is no option, or needs a value" "$offload" doctor --device
check "unknown device" 2 '' "'abacus' is not a value" "$offload" doctor --device abacus
check "bad variable" 2 '' "'abacus' is not a value" env GPU_OFFLOAD_DEVICE=abacus "$offload" doctor
check "help" 0 "$("$offload" doctor --help)" '' "$offload" help doctor
mkdir -p config/gpu-offload && echo 'device = abacus' >config/gpu-offload/config
check "bad configuration file" 2 '' "config:1: 'abacus' is not a value" "$offload" doctor
rm -r config

# ---- Devices ----
finds "host device" 0 'host ready, device ABI [0-9]+: .*Offload is possible' --device host
finds "no device wanted" 1 'Offload is not possible: there is no usable device' --device none
export GPU_OFFLOAD_BACKEND_DIR=$work/empty
mkdir empty
finds "no backend" 1 "host not usable: .*not found in $work/empty" --device host
GPU_OFFLOAD_BACKEND_DIR=$clients/other_abi
finds "backend of another version" 1 'host not usable: .*device interface' --device host
printf 'no library' >empty/libgpuoffload-host.so
GPU_OFFLOAD_BACKEND_DIR=$work/empty
finds "backend that is no library" 1 'host not usable: .*libgpuoffload-host.so' --device host
unset GPU_OFFLOAD_BACKEND_DIR

# ---- Programs ----
finds "program with BLAS" 0 'cli_product 1 of the 1 BLAS and LAPACK routines that it calls are intercepted: dgemm_' \
    --device host "$product"
finds "its library" 0 'BLAS library [^ ]*libcli_blas.so' --device host -- "$product" argument
finds "program without BLAS" 1 'no call of the program can be intercepted' --device host "$clients/cli_client"
finds "static program" 1 'it is linked statically' --device host "$clients/cli_client_static"
finds "BLAS inside the program" 1 'holds dgemm_ .*linked statically: its calls cannot be seen.*-lopenblas' \
    --device host "$clients/cli_product_static_blas"
finds "both obstacles" 1 'there is no usable device, and no call' --device none "$clients/cli_client_static"
finds "missing program" 1 'there is no such program' --device host no-such-program
: >plain
finds "not executable" 1 'it cannot be executed' --device host ./plain
finds "shell" 0 'none of the files that it is linked with calls BLAS; what it loads or starts' --device host bash
printf '#!/bin/bash\n' >script && chmod +x script
finds "script" 0 'a script for /bin/bash' --device host ./script
printf '#!/usr/bin/env -S bash -e\n' >script
finds "script by way of env" 0 'a script for [^ ]*/bash' --device host ./script
cp "$product" foreign && printf '\267' | dd of=foreign bs=1 seek=18 conv=notrunc status=none # AArch64
finds "foreign architecture" 1 'another architecture' --device host ./foreign
sed 's|/lib64/ld-linux-x86-64.so.2|/lib64/ld-musl-x86-6-.so.2|' "$product" >musl && chmod +x musl
if cmp -s musl "$product"; then skip "another C library: not an x86-64 program"; else
    finds "another C library" 1 'another C library than glibc' --device host ./musl
fi
cp "$product" julia
finds "Julia" 1 'libblastrampoline' --device host ./julia

# Damaged files: any answer but a crash.
size=$(stat -c %s "$product")
for cut in 1 5 20 63 64 100 500 1000 3000 5000 8000 12000 $((size - 1)); do
    head -c "$cut" "$product" >damaged && chmod +x damaged
    "$offload" doctor --device host ./damaged >out 2>&1
    same "a program cut after $cut bytes" 1 "$(($? <= 1))"
done
finish
