"""Ranking with one unknown right answer per item: one small model for every kind of data."""

from hitsndiffs.methods.core.method import LatentKey

__all__ = ["LatentKey"]
