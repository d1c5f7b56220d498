"""Writes the table of numerics.md: ``python docs/numerics.py``."""

from __future__ import annotations

from pages import fill

from gridcore import numerics

if __name__ == "__main__":
    fill("numerics.md", {"tolerances": numerics.markdown()})
