#!/usr/bin/env python3
"""Every matrix product that a NumPy program makes is seen, and every one reaches the device.

    numpy_counts.py --command GPU_OFFLOAD --device host|cuda

Starts itself under `gpu-offload run --force`, makes a known number of calls of known routines, checks each
product against one that uses no BLAS, and compares gpu-offload's counts with the known numbers.
Exit status 77 if there is no NumPy.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIP: this Python has no NumPy")
    sys.exit(77)

# What `products` makes: routine -> calls.
EXPECTED = {"dgemm": 7 + 5 + 2, "sgemm": 4, "cgemm": 3, "zgemm": 6, "dsyrk": 2, "ssyrk": 1}


def exact(a, b):
    """A product without BLAS."""
    return np.einsum("ij,jk->ik", a, b, optimize=False)


def products():
    rng = np.random.default_rng(7)

    def matrix(rows, columns, dtype):
        values = rng.standard_normal((rows, columns))
        if np.dtype(dtype).kind == "c":
            values = values + 1j * rng.standard_normal((rows, columns))
        return np.asarray(values, dtype=dtype)

    def check(got, a, b):
        wanted = exact(a, b)
        tolerance = 1e-4 if got.dtype in (np.float32, np.complex64) else 1e-12
        assert got.dtype == wanted.dtype
        assert np.max(np.abs(got - wanted)) <= tolerance * np.max(np.abs(wanted)), (got.dtype, a.shape, b.shape)

    for dtype, calls in (("d", 7), ("f", 4), ("F", 3), ("D", 6)):
        for i in range(calls):
            a, b = matrix(90 + i, 70, dtype), matrix(70, 80 + 3 * i, dtype)
            # Plain, transposed and strided operands, which NumPy hands over without a copy.
            if i % 3 == 1:
                a, b = matrix(70, 90, dtype).T, matrix(80, 70, dtype).T
            elif i % 3 == 2:
                a = matrix(90, 140, dtype)[:, :70]
            check(a @ b, a, b)
    batch, other = rng.standard_normal((5, 60, 50)), rng.standard_normal((5, 50, 40))
    for got, a, b in zip(batch @ other, batch, other):
        check(got, a, b)
    out = np.empty((64, 64))
    for _ in range(2):
        a, b = matrix(64, 64, "d"), matrix(64, 64, "d")
        np.dot(a, b, out=out)
        check(out, a, b)
    for dtype, calls in (("d", 2), ("f", 1)):
        for _ in range(calls):
            a = matrix(80, 60, dtype)
            check(a @ a.T, a, a.T)


def count(command, device):
    with tempfile.TemporaryDirectory() as folder:
        summary = pathlib.Path(folder) / "summary"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GPU_OFFLOAD_")}
        subprocess.run(
            [command, "run", "--device", device, "--force", "--summary-file", summary, "--"]
            + [sys.executable, os.path.abspath(__file__), "--child"],
            env=environment,
            check=True,
        )
        counts = {}
        for line in summary.read_text().splitlines():
            routine, where, calls = line.split()
            if int(calls) > 0:
                counts.setdefault(routine, {})[where] = int(calls)
    return counts


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--command", default="gpu-offload")
    arguments.add_argument("--device", default="host")
    arguments.add_argument("--child", action="store_true")
    chosen = arguments.parse_args()
    if chosen.child:
        products()
        return 0
    counts = count(chosen.command, chosen.device)
    failed = 0
    for routine, calls in EXPECTED.items():
        got = counts.get(routine, {})
        if got != {chosen.device: calls}:
            print(f"FAIL {routine}: the program made {calls} calls; counted {got or 'none'}")
            failed += 1
    print(f"{len(EXPECTED) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
