"""Engines, which hold the answers and compute sums over them (:class:`Engine`)."""

from hitsndiffs.engines.base import Engine, scaled
from hitsndiffs.engines.opening import ENGINES, open_engine

__all__ = ["ENGINES", "Engine", "open_engine", "scaled"]
