"""Limiters of excitation: they hang on an exciter that has an input for them."""
