"""How data and results display themselves.

The drawing code (:mod:`hitsndiffs.show`) sits above the data it draws, and imports only go down.
So classes that can be viewed get their views from a provider, which the package sets when it is
imported. Nothing is loaded until a view is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["Viewed", "provide_views", "view"]

#: Maps the name of a view to the function that makes it; set by the package.
_find: Callable[[str], Callable[..., Any]] | None = None


def provide_views(find: Callable[[str], Callable[..., Any]]) -> None:
    """Set where views come from.

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
