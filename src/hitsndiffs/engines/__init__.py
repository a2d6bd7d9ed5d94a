"""The one seam of the library: two sums over the responses, and engines that compute them.

With ``C`` the users × options matrix of ones (never built), every method is an iteration of

``choices(w) = C w``
    for each user, the sum of ``w`` over the options the user chose;
``choosers(s) = Cᵀ s``
    for each option, the sum of ``s`` over the users who chose it.
"""

from hitsndiffs.engines.base import Sums, open_sums

__all__ = ["Sums", "open_sums"]
