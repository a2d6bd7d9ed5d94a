"""The paper's figures: their definitions, runs, comparisons and pictures.

``python -m reproduction all`` runs them. This is not a part of the installed library.
"""

from reproduction.command import list_figures, reproduce
from reproduction.figures import FIGURES, Figure
from reproduction.values import paper_values

__all__ = ["FIGURES", "Figure", "list_figures", "paper_values", "reproduce"]
