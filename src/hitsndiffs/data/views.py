"""How data and results come to show themselves.

What draws (:mod:`hitsndiffs.show`) stands above what is drawn, and imports go down only. So the
classes that can be looked at take their views from whoever provides them: the package itself,
which stands above all rooms, does so when it is imported, and nothing is loaded until a view is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Viewed", "provide_views", "view"]

#: From the name of a view to the function that makes it; set by the package.
_find: Callable[[str], Callable[..., Any]] | None = None


def provide_views(find: Callable[[str], Callable[..., Any]]) -> None:
    """Say where views come from.

    Parameters
    ----------
    find
        Called with the name of a view; returns the function that makes it from an object.
    """
    global _find
    _find = find


def view(name: str) -> Callable[..., Any]:
    """The function that makes a view.

    >>> import hitsndiffs
    >>> view("plot").__module__
    'hitsndiffs.show.charts'
    """
    assert _find is not None  # the package provides it before any of its modules is imported
    return _find(name)


class Viewed:
    """Something that shows itself in a notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = view("notebook_html")(self)
        return html
