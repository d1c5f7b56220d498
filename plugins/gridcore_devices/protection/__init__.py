"""Relays: they watch what they hang on, and switch it after a delay."""
