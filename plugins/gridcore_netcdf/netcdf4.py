"""NetCDF-4 as HDF5 has it, for writing: every dimension is a scale, and a variable says which scales are its own.

That is all that the library's "NetCDF-4 File Format Specification" asks for. h5py alone writes it in a third of the
time of h5netcdf, which looks every dimension of a file up many times for each variable: much, of a short run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable."


class Group:
    """A group, whose dimensions are made by the variables that have them.

    Parameters
    ----------
    group : h5py.Group
        Empty, and made with ``track_order=True``.

    Attributes
    ----------
    attrs : h5py.AttributeManager
    dimensions : dict of str to h5py.Dataset
        The scale of each dimension, which has its length.
    """

    def __init__(self, group: Any, ids: Iterator[int] | None = None):
        self.attrs = group.attrs
        self._group, self._ids = group, ids or itertools.count()  # one number for each dimension of a file
        self.dimensions: dict[str, Any] = {}

    def group(self, name: str) -> Group:
        """A group in this one, with dimensions of its own."""
        return Group(self._group.create_group(name, track_order=True), self._ids)

    def variable(self, name: str, dimensions: tuple[str, ...], shape: tuple[int, ...], **how: Any) -> Any:
        """A new variable.

        Parameters
        ----------
        name : str
        dimensions : tuple of str
            The variable that is called as its only dimension is the coordinate of it, and comes before all others.
        shape : tuple of int
            Where there is nothing, a dimension is unlimited, as NetCDF knows no other of no length.
        **how
            Of :meth:`h5py.Group.create_dataset`.

        Returns
        -------
        h5py.Dataset
        """
        made = self._made(name, shape, **how)
        if dimensions == (name,):
            self._add_scale(name, made, name)
            return made
        for axis, (dimension, size) in enumerate(zip(dimensions, shape, strict=True)):
            if dimension not in self.dimensions:
                self._add_scale(dimension, self._made(dimension, (size,), dtype=">f4"), f"{_NO_VARIABLE}{size:10}")
            made.dims[axis].attach_scale(self.dimensions[dimension])
        return made

    def _made(self, name: str, shape: tuple[int, ...], **how: Any) -> Any:
        longest = None if all(shape) else tuple(size or None for size in shape)
        return self._group.create_dataset(name, shape, maxshape=longest, track_order=True, **how)

    def _add_scale(self, dimension: str, dataset: Any, name: str) -> None:
        dataset.make_scale(name)
        dataset.attrs["_Netcdf4Dimid"] = np.int32(next(self._ids))
        self.dimensions[dimension] = dataset
