"""Compensators of reactive power: they take the place of a generator in the power flow."""
