"""Mutation testing of the modules whose numbers nobody can check by eye: is there a test for every operator in them?

    python -m tests.mutation --sample 300 --seed 1     a random sample
    python -m tests.mutation                           every mutant: many hours
    python -m tests.mutation --only theta/predictor    of these modules
    python -m tests.mutation --again                   survivors of the last session, of modules as they were
    python -m tests.mutation --again --slow            and by all tests of their lines, slow ones as well

`Cosmic Ray <https://cosmic-ray.readthedocs.io>`_ (MIT; ``pip install -e '.[test,mutation]'``) makes the mutants, in a
copy of the repository, and keeps the session: ``cr-report --surviving-only --show-diff SESSION`` shows what survived.
Each mutant is tried by the tests that run its line until one of them fails: first those that found mutants of lines
nearby, then some of each file. ``survivors.txt`` has those of the last samples that change nothing that is promised,
and why; one that it lacks makes the exit code 1. In a first pass the tests of a mutant may take fifteen seconds;
``--again --slow`` asks all of them.

Which mutants there are is in :mod:`.mutants`, which tests try them in :mod:`.lines`, the trial in :mod:`.trial`.
"""
