"""The paper's figures: their definitions, runs, comparisons and pictures."""

from hitsndiffs.paper.command import list_figures, reproduce
from hitsndiffs.paper.figures import FIGURES, Figure
from hitsndiffs.paper.values import paper_values

__all__ = ["FIGURES", "Figure", "list_figures", "paper_values", "reproduce"]
