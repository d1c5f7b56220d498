"""Turbines and governors: they hang on a machine and drive its mechanical power."""
