#!/usr/bin/env python3
"""A NumPy program that knows nothing of GPUs, run without and with gpu-offload.

    examples/demo.py [--command GPU_OFFLOAD] [--device auto|cuda|host] [--scale FACTOR]

The program is `work` below.  It is started twice as a process of its own: plainly, and under
`gpu-offload run`.  The table at the end says for each operation how many calls were made, where they ran
(from gpu-offload's own count), how long they took, and how far the results of the two runs are apart.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

# ---- The program ----


def operations(scale):
    """(title, routine that NumPy calls, calls, function that makes the data and returns one call, tolerance)."""
    rng = np.random.default_rng(2024)
    n, wide, small, rows, columns, symmetric = (int(scale * size) for size in (3000, 4000, 1500, 4000, 800, 1600))
    repeat = 4 if scale <= 1 else 6  # a GPU takes about half a second to start

    def product(size, dtype):
        a = rng.standard_normal((size, size)).astype(dtype)
        if np.iscomplexobj(a):
            a += 1j * rng.standard_normal((size, size))
        return lambda: a @ a

    def gram():
        a = rng.standard_normal((n, n))
        return lambda: a @ a.T

    def solve():
        a, b = rng.standard_normal((n, n)), rng.standard_normal((n, 10))
        return lambda: np.linalg.solve(a, b)

    def least_squares():
        a, b = rng.standard_normal((rows, columns)), rng.standard_normal(rows)
        return lambda: np.linalg.lstsq(a, b, rcond=None)[0]

    def eigenvalues():
        a = rng.standard_normal((symmetric, symmetric))
        a += a.T
        return lambda: np.linalg.eigvalsh(a)

    return [
        (f"product, double, n = {n}", "dgemm", repeat, lambda: product(n, np.float64), 1e-12),
        (f"product, single, n = {wide}", "sgemm", repeat, lambda: product(wide, np.float32), 1e-4),
        (f"product, complex, n = {small}", "zgemm", repeat, lambda: product(small, np.complex128), 1e-12),
        (f"A times its transpose, n = {n}", "dsyrk", repeat, gram, 1e-12),
        (f"solve A x = b, n = {n}", "dgesv", 2, solve, 1e-8),
        (f"least squares, {rows} x {columns}", "dgelsd", 2, least_squares, 1e-8),
        (f"eigenvalues, n = {symmetric}", "dsyevd", 2, eigenvalues, 1e-10),
    ]


def work(scale, results):
    """Runs all operations; leaves their last results and their times in a file."""
    kept = {}
    for title, _, calls, make, _ in operations(scale):
        call = make()
        start = time.perf_counter()
        for _ in range(calls):
            kept[title] = call()
        kept["time " + title] = time.perf_counter() - start
    np.savez(results, **kept)


# ---- Running it twice ----


def run_twice(command, device, scale, folder):
    """The results of both runs and the summary of the second: {routine: {device: calls}}."""
    program = [sys.executable, os.path.abspath(__file__), "--scale", str(scale), "--work"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GPU_OFFLOAD_")}
    options = ["--device", device] + (["--force"] if device == "host" else [])
    summary = folder / "summary"
    print("  running it plainly ...", flush=True)
    subprocess.run(program + [folder / "without.npz"], env=environment, check=True)
    shown = " ".join(["gpu-offload run"] + options)
    print(f"  running it under `{shown}` ...\n", flush=True)
    subprocess.run(
        [command, "run"] + options + ["--summary-file", summary, "--"] + program + [folder / "with.npz"],
        env=environment,
        check=True,
    )
    counts = {}
    for line in summary.read_text().splitlines():
        routine, where, calls = line.split()
        counts.setdefault(routine, {})[where] = int(calls)
    return np.load(folder / "without.npz"), np.load(folder / "with.npz"), counts


def difference(plain, offloaded):
    """Largest difference, relative to the largest value."""
    if not np.all(np.isfinite(offloaded)):
        return np.inf
    return float(np.max(np.abs(plain - offloaded)) / np.max(np.abs(plain)))


def ran_on(counts, routine, calls):
    """Text for the table, and how many of the calls ran on a device."""
    places = counts.get(routine, {})
    on_device = {where: n for where, n in places.items() if where != "cpu" and n > 0}
    total = sum(on_device.values())
    if total == 0:
        return "CPU", 0
    text = ", ".join(on_device)
    return (text if total == calls else f"{text} {total} of {calls}"), total


def table(scale, plain, offloaded, counts, compare):
    """Prints the table, with ratios of the times if `compare`; returns whether all agrees, and the calls on a device."""
    columns = "  {:<33}{:>5}  {:<13}{:>9}{:>9}{:>8}  {}" if compare else "  {:<33}{:>5}  {:<13}{:>9}{:>9}{:.0s}  {}"
    rule = "  " + "─" * 95
    print(columns.format("operation", "calls", "ran on", "without", "with", "ratio", "largest difference"))
    print(rule)
    agreed, moved, made = 0, 0, 0
    sums = [0.0, 0.0]
    rows = operations(scale)
    for title, routine, calls, _, tolerance in rows:
        place, on_device = ran_on(counts, routine, calls)
        seconds = [float(run["time " + title]) for run in (plain, offloaded)]
        apart = difference(plain[title], offloaded[title])
        agrees = apart <= tolerance
        verdict = "none" if apart == 0 else f"{apart:.0e}"
        print(
            columns.format(
                title,
                calls,
                place,
                f"{seconds[0]:.2f} s",
                f"{seconds[1]:.2f} s",
                f"{seconds[0] / seconds[1]:.2f}",
                verdict + ("" if agrees else "  TOO LARGE"),
            )
        )
        agreed += agrees
        moved += on_device
        made += calls
        sums = [a + b for a, b in zip(sums, seconds)]
    print(rule)
    ratio = f"{sums[0] / sums[1]:.2f}"
    print(columns.format("together", made, f"{moved} moved", f"{sums[0]:.2f} s", f"{sums[1]:.2f} s", ratio, ""))
    if compare:
        print("\n  ratio: time without divided by time with; above 1 the second run was faster")
    else:
        print("\n  both runs computed on this CPU: the times say nothing about a GPU")
    print(f"  results: {agreed} of {len(rows)} agree" + (" to rounding" if agreed == len(rows) else ""))
    unseen = sum(calls for _, routine, calls, _, _ in rows if routine not in counts)
    if unseen:
        print(f"  {unseen} of {made} calls are of LAPACK routines that this version does not intercept (gelsd, syevd)")
    if made - moved - unseen:
        print(f"  {made - moved - unseen} of {made} calls stayed on the CPU by decision: `gpu-offload run --summary` says why")
    return agreed == len(rows), moved


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--command", default="gpu-offload", help="the gpu-offload executable")
    arguments.add_argument("--device", default="auto", choices=["auto", "cuda", "host"])
    arguments.add_argument("--scale", type=float, help="factor on all sizes (1; 2.5 with a GPU)")
    arguments.add_argument("--work", help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.work:
        work(chosen.scale, chosen.work)
        return 0
    device = chosen.device
    print("\ngpu-offload demo: a NumPy program, unchanged, without and with gpu-offload\n")
    if device == "auto":
        usable = subprocess.run([chosen.command, "doctor", "--device", "cuda"], stdout=subprocess.DEVNULL, check=False)
        device = "cuda" if usable.returncode == 0 else "host"
        if device == "host":
            print(
                "  No usable GPU here (`gpu-offload doctor` says why).  The second run uses the host device\n"
                "  instead, a stand-in that computes on this CPU with a memory of its own: it shows that calls\n"
                "  are caught and results are right, and cannot be faster.\n"
            )
    with tempfile.TemporaryDirectory() as folder:
        scale = chosen.scale or (2.5 if device == "cuda" else 1)
        good, moved = table(scale, *run_twice(chosen.command, device, scale, pathlib.Path(folder)), device != "host")
    if device == "host" and moved == 0:
        print("  No call reached the host device although every call was sent there: this is a fault.")
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
