"""Find out who is good, and what is right, from answers alone, with no answer key.

>>> import hitsndiffs as hnd
>>> r = hnd.Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
>>> hnd.rank(r, method="hnd").ranks.tolist()
[1.0, 2.0, 3.0, 4.0, 5.0]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.display import provide_views

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses as Responses
    from hitsndiffs.errors import ConvergenceWarning as ConvergenceWarning
    from hitsndiffs.errors import InputError as InputError
    from hitsndiffs.irt import Simulation as Simulation
    from hitsndiffs.irt import simulate as simulate
    from hitsndiffs.methods import ABH as ABH
    from hitsndiffs.methods import GLAD as GLAD
    from hitsndiffs.methods import GRM as GRM
    from hitsndiffs.methods import HITS as HITS
    from hitsndiffs.methods import HND as HND
    from hitsndiffs.methods import MACE as MACE
    from hitsndiffs.methods import METHODS as METHODS
    from hitsndiffs.methods import Auto as Auto
    from hitsndiffs.methods import AvgHITS as AvgHITS
    from hitsndiffs.methods import DawidSkene as DawidSkene
    from hitsndiffs.methods import DoubleCentred as DoubleCentred
    from hitsndiffs.methods import HNDRobust as HNDRobust
    from hitsndiffs.methods import Investment as Investment
    from hitsndiffs.methods import LatentKey as LatentKey
    from hitsndiffs.methods import Majority as Majority
    from hitsndiffs.methods import MinimaxEntropy as MinimaxEntropy
    from hitsndiffs.methods import PooledInvestment as PooledInvestment
    from hitsndiffs.methods import TrueAnswer as TrueAnswer
    from hitsndiffs.methods import TruthFinder as TruthFinder
    from hitsndiffs.reading import Plan as Plan
    from hitsndiffs.reading import plan as plan
    from hitsndiffs.reading import read_key as read_key
    from hitsndiffs.reading import read_responses as read_responses
    from hitsndiffs.results.agreement import agreement as agreement
    from hitsndiffs.results.audit import Audit as Audit
    from hitsndiffs.results.audit import audit as audit
    from hitsndiffs.results.comparison import Comparison as Comparison
    from hitsndiffs.results.comparison import compare as compare
    from hitsndiffs.results.marks import marks as marks
    from hitsndiffs.results.metrics import accuracy as accuracy
    from hitsndiffs.results.parts import differences as differences
    from hitsndiffs.results.parts import parts as parts
    from hitsndiffs.results.rank import rank as rank
    from hitsndiffs.results.ranking import Ranking as Ranking
    from hitsndiffs.results.saving import load as load
    from hitsndiffs.results.surprising import surprisingly_popular as surprisingly_popular

#: Module → the public names that it holds; loaded on first use, to keep the import quick.
_MODULES = {
    "data.responses": "Responses",
    "errors": "ConvergenceWarning InputError",
    "irt": "Simulation simulate",
    "methods": "ABH Auto AvgHITS DawidSkene DoubleCentred GLAD GRM HITS HND HNDRobust Investment "
    "LatentKey MACE METHODS Majority MinimaxEntropy PooledInvestment TrueAnswer TruthFinder",
    "reading": "Plan plan read_key read_responses",
    "results.agreement": "agreement",
    "results.audit": "Audit audit",
    "results.comparison": "Comparison compare",
    "results.marks": "marks",
    "results.metrics": "accuracy",
    "results.parts": "differences parts",
    "results.rank": "rank",
    "results.ranking": "Ranking",
    "results.saving": "load",
    "results.surprising": "surprisingly_popular",
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from hitsndiffs.results.version import version

        return version()
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hitsndiffs' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"hitsndiffs.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def _view(name: str) -> Any:
    return getattr(importlib.import_module("hitsndiffs.show"), name)


provide_views(_view)


def __dir__() -> list[str]:
    return sorted(__all__)
