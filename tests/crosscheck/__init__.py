"""The same studies by gridcore and by ANDES, a program that nobody here wrote: trajectories and eigenvalues.

ANDES runs in a Python of its own, named by the environment variable GRIDCORE_ANDES; ``tox -e andes`` makes one.
"""
