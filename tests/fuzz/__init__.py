"""Damaged files of every format that is read: a result, or one line that says what is wrong.

From the root of the repository, a campaign, and one mutant of it again, with its file kept::

    python -m tests.fuzz --count 20000 --seed 1 [--format raw]
    python -m tests.fuzz --seed 1 --only 137 [--format raw]
"""
