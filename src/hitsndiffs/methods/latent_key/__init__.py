"""Ranking with one unknown right answer per item."""

from hitsndiffs.methods.latent_key.method import LatentKey

__all__ = ["LatentKey"]
