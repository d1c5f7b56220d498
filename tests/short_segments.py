"""Segments of so few points that a second of a small system has several of them."""

POINTS = 128
