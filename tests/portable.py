"""Runs the numeric tests as the plainest processor of this kind would: ``make test-portable``.

Fast kernels differ from processor to processor in the last digits and in the order of ties. Here
numpy, torch and their libraries are held to the instructions that every x86-64 has, so what passes
both here and in ``make test`` leans on neither. One pass with one thread each, one with two.

Besides the rooms that compute, those of their users that run the bundled model are tested, in the
pass with one thread: another kernel may choose other words. Left out are tests on texts alone or on
fakes of the models (nothing in them depends on kernels), examples and web pages (the same models
again) and ``slow`` tests. Arguments go to pytest: ``python tests/portable.py tests/metrics -x``.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

ROOMS = [
    "tests/uncertainty",
    "tests/metrics",
    "tests/calibration",
    "tests/faithfulness",
    "tests/language_model",
    "tests/signals",
    "tests/claims/test_alignment.py",
    "tests/test_franq.py",
    "tests/test_offline.py",
]
USERS = [
    "benchmarks/tests/fits",
    "benchmarks/tests/long",
    "benchmarks/tests/short",
    "benchmarks/tests/tables",
    "benchmarks/tests/training",
    "integrations/langchain/tests/test_real_model.py",
    "integrations/llama_index/tests/test_real_model.py",
]


def plain_kernels() -> dict[str, str]:
    """Environment variables that switch off what this machine has beyond its kind's baseline."""
    beyond = [feature for feature in __cpu_dispatch__ if __cpu_features__[feature]]
    settings = {
        "NPY_DISABLE_CPU_FEATURES": " ".join(beyond),
        "ATEN_CPU_CAPABILITY": "default",  # torch's own kernels
    }
    if platform.machine() in ("x86_64", "AMD64"):
        settings |= {
            "ONEDNN_MAX_CPU_ISA": "SSE41",  # torch's matrix products
            "MKL_CBWR": "COMPATIBLE",  # likewise, where torch comes with MKL
            "OPENBLAS_CORETYPE": "Prescott",  # numpy's and scipy's
        }
    return settings


def main(arguments: list[str]) -> int:
    """Run pytest twice; the number of passes that failed."""
    settings = plain_kernels()
    shown = " ".join(f"{name}='{value}'" for name, value in settings.items())
    passes = [
        ("1", ["-n", "2", "--dist", "loadfile"], ROOMS + USERS),
        ("2", [], ROOMS),  # the users only call these
    ]
    failed = 0
    for threads, processes, paths in passes:
        print(f"OMP_NUM_THREADS={threads} {shown}", flush=True)
        command = [sys.executable, "-m", "pytest", *processes, *(arguments or paths)]
        environment = {**os.environ, **settings, "OMP_NUM_THREADS": threads}
        failed += subprocess.run(command, env=environment, check=False).returncode != 0
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
