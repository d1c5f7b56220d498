"""Benchmarks: each prints ratios of times taken in one run, next to the target where there is one.

``python -m tests.bench`` runs all of them, ``python -m tests.bench.kernels`` one.
"""
