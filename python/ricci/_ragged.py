"""Rows of different lengths: what vmap gives with out_dims=ricci.ragged."""

from dataclasses import dataclass

from . import _core


@dataclass
class Ragged:
    """Row i is values[offsets[i]:offsets[i + 1]]; differentiable in `values`."""

    values: _core.Tensor  # [total, …]
    offsets: _core.Tensor  # int64 [rows + 1]

    def __len__(self):
        return self.offsets.shape[0] - 1

    def __getitem__(self, row):
        return _core.ragged_row(self.values, self.offsets, row)

    def lengths(self):
        """int64 [rows]."""
        return _core.ragged_lengths(self.values, self.offsets)

    def row_numbers(self):
        """int64 [total]: the row of each value."""
        return _core.ragged_row_numbers(self.values, self.offsets)

    def pad(self, fill=0):
        """The rows as [rows, longest, …], shorter ones filled up."""
        return _core.ragged_pad(self.values, self.offsets, fill)

    def sum(self):
        """Of the values of each row: [rows, …]; 0 for an empty row."""
        return _core.ragged_sum(self.values, self.offsets)

    def mean(self):
        """Of the values of each row; nan for an empty row."""
        return _core.ragged_mean(self.values, self.offsets)

    def max(self):
        """Of the values of each row. ValueError if one is empty."""
        return _core.ragged_max(self.values, self.offsets)

    def min(self):
        """Of the values of each row. ValueError if one is empty."""
        return _core.ragged_min(self.values, self.offsets)

    def map(self, f):
        """An elementwise function of all values."""
        return Ragged(f(self.values), self.offsets)
