"""The paper's linear maps, computed by the two sums instead of as matrices.

``Averaging`` is the update ``U = Dr⁻¹ C Dc⁻¹ Cᵀ`` of avgHITS (Section III-B): options get the mean
score of their choosers, users the mean weight of their options. Its second axis is HnD.

``Laplacian`` is ``L = D - C Cᵀ`` of Atkins, Boman and Hendrickson (ABH), with ``D`` the row sums of
``C Cᵀ``. The paper stores ``D`` as a full matrix, which costs m² a round; here it is a vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine

__all__ = ["Averaging", "Laplacian"]


@dataclass(frozen=True)
class Averaging:
    """``U``: one round of averaging, from user scores to option weights and back.

    Every user must have answered something.
    """

    data: Engine
    answers: Floats
    choosers: Floats

    @classmethod
    def of(cls, data: Engine) -> Averaging:
        """Return the operator of some responses."""
        return cls(data, data.answers_per_user, data.choosers_per_option.astype(float))

    @cached_property
    def stationary(self) -> Floats:
        """The left eigenvector of eigenvalue 1 (the right one is the ones vector)."""
        return self.answers / float(self.answers.sum())

    def weights(self, s: Floats) -> Floats:
        """Mean score of each option's choosers."""
        return self.data.choosers(s) / self.choosers

    def scores(self, w: Floats) -> Floats:
        """Mean weight of each user's options."""
        found: Floats = self.data.choices(w) / self.answers
        return found

    def __call__(self, s: Floats) -> Floats:
        """``U s``."""
        return self.scores(self.weights(s))

    def transposed(self, s: Floats) -> Floats:
        """``Uᵀ s``."""
        back: Floats = self.data.choices(self.data.choosers(s / self.answers) / self.choosers)
        return back

    def centred(self, s: Floats) -> Floats:
        """``s`` without its part along the ones vector."""
        return s - float(self.stationary @ s)

    def dense(self) -> Floats:
        """``U`` as a matrix (the paper's *direct* variants; m² memory)."""
        return _product(self.data, 1.0 / self.choosers) / self.answers[:, None]


@dataclass(frozen=True)
class Laplacian:
    """``L s = d s - choices(choosers(s))``: linear in the number of responses."""

    data: Engine
    degrees: Floats

    @classmethod
    def of(cls, data: Engine) -> Laplacian:
        """Return the operator of some responses."""
        return cls(data, data.choices(data.choosers_per_option.astype(float)))

    def __call__(self, s: Floats) -> Floats:
        """``L s``."""
        product: Floats = self.degrees * s - self.data.choices(self.data.choosers(s))
        return product

    def dense(self) -> Floats:
        """``L`` as a matrix (m² memory)."""
        return np.diag(self.degrees) - _product(self.data, np.ones(self.data.n_options))


def _product(data: Engine, weights: Floats) -> Floats:
    """``C diag(weights) Cᵀ``, as a product of sparse matrices of ones."""
    from scipy.sparse import diags_array

    C = data.responses.ones.in_scipy
    product: Floats = (C @ diags_array(weights) @ C.T).toarray()
    return product
