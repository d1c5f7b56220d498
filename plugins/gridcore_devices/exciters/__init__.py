"""Excitation systems: they hang on a machine and drive its field voltage."""
