"""All methods, by name."""

from __future__ import annotations

from typing import Any

from hitsndiffs.errors import InputError, did_you_mean
from hitsndiffs.methods.abh import ABH
from hitsndiffs.methods.auto import Auto
from hitsndiffs.methods.avghits import AvgHITS
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.core import LatentKey
from hitsndiffs.methods.dawid_skene import DawidSkene
from hitsndiffs.methods.double_centred import DoubleCentred
from hitsndiffs.methods.glad import GLAD
from hitsndiffs.methods.grm import GRM
from hitsndiffs.methods.hits import HITS
from hitsndiffs.methods.hnd import HND
from hitsndiffs.methods.investment import Investment, PooledInvestment
from hitsndiffs.methods.mace import MACE
from hitsndiffs.methods.majority import Majority
from hitsndiffs.methods.minimax_entropy import MinimaxEntropy
from hitsndiffs.methods.robust import HNDRobust
from hitsndiffs.methods.true_answer import TrueAnswer
from hitsndiffs.methods.truthfinder import TruthFinder

__all__ = [
    "ABH",
    "GLAD",
    "GRM",
    "HITS",
    "HND",
    "MACE",
    "METHODS",
    "Auto",
    "AvgHITS",
    "DawidSkene",
    "DoubleCentred",
    "Fit",
    "HNDRobust",
    "Investment",
    "LatentKey",
    "Majority",
    "Method",
    "MinimaxEntropy",
    "PooledInvestment",
    "TrueAnswer",
    "TruthFinder",
    "make",
]

#: Every method, under the name that :func:`hitsndiffs.rank` takes.
METHODS: dict[str, type[Method]] = {
    cls.name: cls
    for cls in (
        Auto,
        HND,
        HNDRobust,
        LatentKey,
        ABH,
        HITS,
        TruthFinder,
        Investment,
        PooledInvestment,
        Majority,
        DawidSkene,
        DoubleCentred,
        GLAD,
        MACE,
        MinimaxEntropy,
        TrueAnswer,
        GRM,
        AvgHITS,
    )
}


def make(name: str, **params: Any) -> Method:
    """Return a method by its name, with its parameters set."""
    if name not in METHODS:
        hint = did_you_mean(name, METHODS)
        raise InputError(f"There is no method {name!r}; choose from {', '.join(METHODS)}.{hint}")
    method = METHODS[name]()
    for param in params.keys() - method.get_params().keys():
        others = [other for other, cls in METHODS.items() if param in cls().get_params()]
        if others:
            raise InputError(
                f"Method {name!r} has no {param}; methods that have it: {', '.join(others)}."
            )
    return method.set_params(**params)
