"""Loads: what they draw as a function of voltage and time."""
