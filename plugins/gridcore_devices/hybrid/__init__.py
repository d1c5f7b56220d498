"""Hybrid systems that are no grids: switched equations, resets."""
