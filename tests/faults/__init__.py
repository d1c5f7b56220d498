"""Kills and failed writes at every write of a save, a run, a sweep, a gradient with its states on disk, and the verbs
that convert, export, plot, report and begin a device.

From the root of the repository, so many kills and so many errors, and one of them again, in words::

    python -m tests.faults --count 200 --seed 1
    python -m tests.faults --seed 1 --only 137

Writes are counted where every program makes them, in the C library: those of SQLite are among them. So are the calls
that make, close, cut, rename, link and remove a file or a folder, and that copy from one to another.
"""
