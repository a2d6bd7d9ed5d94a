"""Item response models, and simulated data with known abilities.

Appendix "Item Response Theory (IRT) models" of the paper. Models are small frozen objects with one
interface (:class:`ResponseModel`); :func:`simulate` draws items, abilities and answers as the
paper's experiments do.
"""

from hitsndiffs.irt.american_experience import american_experience
from hitsndiffs.irt.base import ResponseModel
from hitsndiffs.irt.binary import Glad, OnePL, ThreePL, TwoPL
from hitsndiffs.irt.codes import from_codes
from hitsndiffs.irt.polytomous import C1P, GRM, Bock, Samejima
from hitsndiffs.irt.recipes import ABILITIES, RECIPES, spaced_bock
from hitsndiffs.irt.simulation import Simulation, simulate
from hitsndiffs.irt.writing import WRITTEN_FORMATS, write_simulation

__all__ = [
    "ABILITIES",
    "C1P",
    "GRM",
    "RECIPES",
    "WRITTEN_FORMATS",
    "Bock",
    "Glad",
    "OnePL",
    "ResponseModel",
    "Samejima",
    "Simulation",
    "ThreePL",
    "TwoPL",
    "american_experience",
    "from_codes",
    "simulate",
    "spaced_bock",
    "write_simulation",
]
