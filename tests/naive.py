"""The plainest possible sums: a full matrix of zeros and ones, built cell by cell.

Everything faster is tested against this. Nothing here is shared with the library's own code but
the data structure itself.
"""

from __future__ import annotations

import numpy as np

from hitsndiffs.data.responses import Responses


def one_hot(responses: Responses) -> np.ndarray:
    """``C``: users × options, 1 where the user chose the option."""
    matrix = np.zeros((responses.n_users, responses.n_options))
    if responses.is_dense:
        missing = np.iinfo(responses.codes.dtype).max
        for item in range(responses.n_items):
            for user in range(responses.n_users):
                code = int(responses.codes[item, user])
                if code != missing:
                    matrix[user, int(responses.item_starts[item]) + code] = 1.0
    else:
        indptr, options = responses.rows
        for user in range(responses.n_users):
            for place in range(int(indptr[user]), int(indptr[user + 1])):
                matrix[user, int(options[place])] = 1.0
    return matrix


def choices(matrix: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """``C w``."""
    return matrix @ weights


def choosers(matrix: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """``Cᵀ s``."""
    return matrix.T @ scores


def through_users(matrix: np.ndarray, weights: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """``Cᵀ diag(scale) C w``."""
    return (matrix * scale[:, None]).T @ (matrix @ weights)


def level_ranks(values: np.ndarray, limit: float) -> np.ndarray:
    """Rank 1 is the highest; values in a chain (gaps of at most ``limit``) share its best rank."""
    order = np.argsort(-values, kind="stable").tolist()
    ranks = np.empty(len(values))
    for place, user in enumerate(order):
        chained = place and values[order[place - 1]] - values[user] <= limit
        ranks[user] = ranks[order[place - 1]] if chained else 1 + place
    return ranks
