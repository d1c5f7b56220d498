"""A format to be fuzzed: good files of it, what damages them, and what reads them."""

from __future__ import annotations

import random
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import documents
from .mutations import BYTES, TEXT, mutated


class Format(ABC):
    """One format.

    Attributes
    ----------
    name : str
    files : dict
        Name to content of the file that is damaged, the first, and of those that are read with it.
    victim : str
        The name of the first.
    other : bytes
        Of another file of this format, or nearly so.
    """

    def __init__(self, name: str, files: dict[str, bytes], other: bytes):
        self.name, self.files, self.other, self.victim = name, files, other, next(iter(files))

    def mutant(self, rng: random.Random) -> bytes:
        """A damaged copy of the victim."""
        return mutated(rng, self.files[self.victim], self.other, BYTES)

    @abstractmethod
    def read(self, path: Path) -> Any:
        """Read the damaged file, whose neighbours are good; False if it gives what nobody wrote."""


class Bytes(Format):
    """Of no structure that mutations know; read by a function."""

    def __init__(self, name: str, read: Callable[[Path], Any], files: dict[str, bytes], other: bytes):
        super().__init__(name, files, other)
        self._read = read

    def read(self, path: Path) -> Any:
        return self._read(path)


class Text(Bytes):
    """Lines and numbers."""

    def mutant(self, rng: random.Random) -> bytes:
        return mutated(rng, self.files[self.victim], self.other, TEXT)


class Toml(Text):
    """Fields of other types, too."""

    def mutant(self, rng: random.Random) -> bytes:
        if rng.random() < 0.5:
            return super().mutant(rng)
        return documents.written(documents.mutant(rng, tomllib.loads(self.files[self.victim].decode())))
