"""The paper's figures: what they are, how they are run, how they compare, how they look."""

from hitsndiffs.paper.command import list_figures, reproduce
from hitsndiffs.paper.figures import FIGURES, Figure
from hitsndiffs.paper.paper import paper_values

__all__ = ["FIGURES", "Figure", "list_figures", "paper_values", "reproduce"]
