"""Kills and failed writes at every write of a save, a run, a sweep and a gradient with its states on disk.

From the root of the repository, so many kills and so many errors, and one of them again, in words::

    python -m tests.faults --count 200 --seed 1
    python -m tests.faults --seed 1 --only 137

Writes are counted where every program makes them, in the C library: those of SQLite are among them.
"""
