"""The arena: all methods on all data sets, judged by the truth (``python -m benchmarks.arena``)."""

import os

# Before NumPy is loaded: small problems gain nothing from threads, and two processes would fight.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
