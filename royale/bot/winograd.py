"""3x3 convolution by Winograd's minimal filtering (Lavin and Gray 2016), in numpy.

A tile of m x m outputs takes (m+2)^2 products a channel pair instead of 9 m^2;
all the work is in matrix products, which is what numpy does fast.
"""

from __future__ import annotations

import math

import numpy as np

POINTS = (0, 1, -1, 2, -2)  # of the polynomials; the last point is infinity


def matrices(m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """F(m, 3): output transform (m, n), filter transform (n, 3), data transform (n, n); n = m+2.

    y = A [(G g) * (B d)] is the transposed Toom-Cook product: B holds the
    coefficients of the polynomials that vanish at all other points.
    """
    n = m + 2
    points = POINTS[: n - 1]
    output, filter_, data = np.zeros((m, n)), np.zeros((n, 3)), np.zeros((n, n))
    for j, point in enumerate(points):
        others = [p for p in points if p != point]
        output[:, j] = [float(point) ** i for i in range(m)]
        filter_[j] = [float(point) ** k / math.prod(point - p for p in others) for k in range(3)]
        data[j, : n - 1] = np.poly(others)[::-1]
    output[m - 1, n - 1] = filter_[n - 1, 2] = 1.0
    data[n - 1] = np.poly(points)[::-1]
    return output, filter_, data


def tile_size(height: int, width: int) -> int:
    """The tile 2, 3 or 4 with the fewest products for a board; 21 is seven 3s, without waste."""
    return min((3, 2, 4), key=lambda m: -(-height // m) * -(-width // m) * (m + 2) ** 2)


class Winograd:
    """Convolutions, zero-padded to the same size, of one board size; the work space is shared."""

    def __init__(self, height: int, width: int, channels: int) -> None:
        """channels: the most in or out of any convolution."""
        self.height, self.width = height, width
        self.m = m = tile_size(height, width)
        self.n = n = m + 2
        self.rows, self.columns = -(-height // m), -(-width // m)
        output, self._filter, data = matrices(m)
        self._data = np.kron(data, data).astype(np.float32)
        self._output = np.kron(output, output).astype(np.float32)
        size = n * n * self.rows * self.columns * channels
        # Two buffers are enough: each step reads one and writes the other.
        self._a, self._b = np.empty(size, np.float32), np.empty(size, np.float32)

    def padded(self, channels: int) -> np.ndarray:
        """A zeroed input: (rows, columns, channels), the board at [1:height+1, 1:width+1]."""
        shape = (self.rows * self.m + 2, self.columns * self.m + 2, channels)
        return np.zeros(shape, np.float32)

    def filter(self, weight: np.ndarray) -> np.ndarray:
        """Weights (O, I, 3, 3) -> their transform (n*n, I, O), made once."""
        both = np.kron(self._filter, self._filter)  # (n*n, 9)
        flat = weight.astype(np.float64).reshape(*weight.shape[:2], 9)
        return np.ascontiguousarray(np.einsum("na,oia->nio", both, flat), np.float32)

    def convolve(self, padded: np.ndarray, filters: np.ndarray, bias: np.ndarray) -> np.ndarray:
        """padded: see there; filters (n*n, I, O); bias (O,) -> (height*width, O) float32."""
        m, n, rows, columns = self.m, self.n, self.rows, self.columns
        _, n_in, n_out = filters.shape
        tiles = rows * columns
        down, right, channel = padded.strides
        windows = np.lib.stride_tricks.as_strided(
            padded,
            (n, n, rows, columns, n_in),
            (down, right, m * down, m * right, channel),
            writeable=False,
        )

        def space(buffer: np.ndarray, *shape: int) -> np.ndarray:
            return buffer[: math.prod(shape)].reshape(shape)

        gathered = space(self._a, n * n, tiles * n_in)
        gathered.reshape(windows.shape)[...] = windows
        data = np.matmul(self._data, gathered, out=space(self._b, n * n, tiles * n_in))
        product = space(self._a, n * n, tiles, n_out)
        np.matmul(data.reshape(n * n, tiles, n_in), filters, out=product)
        product = product.reshape(n * n, tiles * n_out)
        made = np.matmul(self._output, product, out=space(self._b, m * m, tiles * n_out))
        out = np.empty((rows, m, columns, m, n_out), np.float32)
        np.add(made.reshape(m, m, rows, columns, n_out), bias, out=out.transpose(1, 3, 0, 2, 4))
        board = out.reshape(rows * m, columns * m, n_out)[: self.height, : self.width]
        return board.reshape(self.height * self.width, n_out)
