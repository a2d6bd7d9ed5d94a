"""An engine as on a GPU, without one: its user arrays do not mix with NumPy's.

CuPy refuses a NumPy array where it expects its own, and gives none without being asked. Methods
that run here do not depend on the two being the same.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from hitsndiffs.engines.numpy import NumpyEngine


class Strict(NDArrayOperatorsMixin):
    """A NumPy array that refuses other arrays."""

    def __init__(self, x):
        self.x = np.asarray(x)

    def __array__(self, *_, **__):
        raise TypeError("a user array was taken for a NumPy array")

    def __array_ufunc__(self, ufunc, method, *inputs, **named):
        return _wrapped(getattr(ufunc, method)(*_own(inputs), **_own(named)))

    def __array_function__(self, func, types, inputs, named):
        if named.pop("like", None) is not None or func in (np.asarray, np.array):
            return Strict(func(*inputs, **named))  # the way in
        return _wrapped(func(*_own(inputs), **_own(named)))

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.x, name)
        if callable(found):
            return lambda *given, **named: _wrapped(found(*_own(given), **_own(named)))
        return Strict(found) if isinstance(found, np.ndarray) else found

    def __getitem__(self, place):
        return _wrapped(self.x[_own(place)])

    def __setitem__(self, place, value):
        self.x[_own(place)] = _own(value)

    def __len__(self):
        return len(self.x)

    def __float__(self):
        return float(self.x)

    def __int__(self):
        return int(self.x)

    def __bool__(self):
        return bool(self.x)

    def __index__(self):
        return self.x.__index__()


def _wrapped(found):
    if isinstance(found, tuple):
        return tuple(map(_wrapped, found))
    return Strict(found) if isinstance(found, np.ndarray | np.generic) else found


def _own(given):
    """What is ours, without its cover; a NumPy array is refused, a number is not."""
    if isinstance(given, Strict):
        return given.x
    if isinstance(given, np.ndarray):
        raise TypeError("a NumPy array was given where a user array is expected")
    if isinstance(given, tuple | list):
        return type(given)(map(_own, given))
    if isinstance(given, dict):
        return {name: _own(value) for name, value in given.items()}
    return given


def _plain(x):
    return x.x if isinstance(x, Strict) else np.asarray(x)


class StrictEngine(NumpyEngine):
    """The plain engine, its user arrays covered."""

    name = arrays = "strict"

    def choices(self, weights, step=None, *arrays):
        assert not isinstance(weights, Strict)
        sums = Strict(super().choices(weights))
        return sums if step is None else step(sums, *arrays)

    def choosers(self, scores):
        return super().choosers(_plain(scores))

    def through(self, weights, step, *arrays):
        assert all(isinstance(array, Strict) for array in arrays)
        stepped = step(self.choices(weights), *arrays)
        if isinstance(stepped, tuple):
            return self.choosers(stepped[0]), _plain(stepped[1])
        return self.choosers(stepped)

    def opened(self, part):
        return StrictEngine(part)

    def values_at(self, x, places):
        return super().values_at(x.x, places)

    def user_array(self, x):
        return x if isinstance(x, Strict) else Strict(x)

    def collect(self, x, users=None):
        return _plain(x) if users is None else _plain(x)[_plain(users)]
