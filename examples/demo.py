#!/usr/bin/env python3
"""A NumPy program that knows nothing of GPUs, run without and with gpu-offload.

    examples/demo.py [--command GPU_OFFLOAD] [--device auto|cuda|host]

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


def operations():
    """(title, routine that NumPy calls, calls, function that makes one call, tolerance)."""
    rng = np.random.default_rng(2024)
    real = rng.standard_normal((3000, 3000))
    single = rng.standard_normal((4000, 4000), dtype=np.float32)
    complex_ = rng.standard_normal((1500, 1500)) + 1j * rng.standard_normal((1500, 1500))
    sides = rng.standard_normal((3000, 10))
    tall, data = rng.standard_normal((4000, 800)), rng.standard_normal(4000)
    symmetric = real[:1600, :1600] + real[:1600, :1600].T
    return [
        ("product, double, n = 3000", "dgemm", 4, lambda: real @ real, 1e-12),
        ("product, single, n = 4000", "sgemm", 3, lambda: single @ single, 1e-4),
        ("product, complex, n = 1500", "zgemm", 3, lambda: complex_ @ complex_, 1e-12),
        ("A times its transpose, n = 3000", "dsyrk", 4, lambda: real @ real.T, 1e-12),
        ("solve A x = b, n = 3000", "dgesv", 2, lambda: np.linalg.solve(real, sides), 1e-8),
        ("least squares, 4000 x 800", "dgelsd", 2, lambda: np.linalg.lstsq(tall, data, rcond=None)[0], 1e-8),
        ("eigenvalues, n = 1600", "dsyevd", 2, lambda: np.linalg.eigvalsh(symmetric), 1e-10),
    ]


def work(results):
    """Runs all operations; leaves their last results and their times in a file."""
    kept = {}
    for title, _, calls, call, _ in operations():
        start = time.perf_counter()
        for _ in range(calls):
            kept[title] = call()
        kept["time " + title] = time.perf_counter() - start
    np.savez(results, **kept)


# ---- Running it twice ----


def run_twice(command, device, folder):
    """The results of both runs and the summary of the second: {routine: {device: calls}}."""
    program = [sys.executable, os.path.abspath(__file__), "--work"]
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


def table(plain, offloaded, counts):
    """Prints the table; returns whether all agrees."""
    columns = "  {:<33}{:>5}  {:<13}{:>9}{:>9}{:>8}  {}"
    rule = "  " + "─" * 95
    print(columns.format("operation", "calls", "ran on", "without", "with", "ratio", "largest difference"))
    print(rule)
    agreed, moved, made = 0, 0, 0
    sums = [0.0, 0.0]
    rows = operations()
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
    print("\n  ratio: time without divided by time with; above 1 the second run was faster")
    print(f"  results: {agreed} of {len(rows)} agree" + (" to rounding" if agreed == len(rows) else ""))
    if moved < made:
        print(f"  {made - moved} of {made} calls stayed on the CPU: `gpu-offload run --summary` says why")
    return agreed == len(rows), moved


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--command", default="gpu-offload", help="the gpu-offload executable")
    arguments.add_argument("--device", default="auto", choices=["auto", "cuda", "host"])
    arguments.add_argument("--work", help=argparse.SUPPRESS)
    chosen = arguments.parse_args()
    if chosen.work:
        work(chosen.work)
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
        good, moved = table(*run_twice(chosen.command, device, pathlib.Path(folder)))
    if device == "host" and moved == 0:
        print("  No call reached the host device although every call was sent there: this is a fault.")
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
