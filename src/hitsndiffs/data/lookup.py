"""Look up the items, options and users that callers name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.errors import InputError, did_you_mean

__all__ = [
    "answers_here",
    "covered_items",
    "item_places",
    "known_options",
    "mapping_of",
    "no_such_user",
    "python_value",
    "right_options",
    "said_of",
]


#: A name that ends in a number of its own: text-3-q2, law/12, algebra07 (but not q07).
NUMBERED = re.compile(r"(.+?)(?:[\s_./:#-]+[A-Za-z]*|(?<=[^\W\d_]{2}))\d+")


def python_value(value: Any) -> Any:
    """A NumPy scalar as a Python value; anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def known_options(items: Items, answers: Mapping[Any, Any]) -> Ints:
    """The option numbers of known right answers, one of an item.

    Answers that nobody gave have no number and are left out, and so is an item with several right
    answers, which is no witness of who knows the one; an unknown item is an error.

    >>> items = Items(np.array(["q1", "q2"]), np.array(list("ABAB")), np.array([0, 2, 4]))
    >>> known_options(items, {"q1": "B", "q2": "A;B"}).tolist()
    [1]
    """
    options = right_options(items, answers)
    each = np.bincount(items.of_option[options], minlength=items.n_items)
    alone: Ints = options[each[items.of_option[options]] == 1]
    return alone


def right_options(items: Items, answers: Mapping[Any, Any]) -> Ints:
    """The option numbers of all right answers, also of items that have several.

    >>> items = Items(np.array(["q1", "q2"]), np.array(list("ABAB")), np.array([0, 2, 4]))
    >>> right_options(items, {"q1": "B", "q2": "A;B"}).tolist()
    [1, 2, 3]
    """
    from hitsndiffs.data.cells import normalise

    found: list[int] = []
    for item, answer in answers.items():
        i = items.places.get(str(item).strip())
        if i is None:
            raise InputError(
                f"A known answer names item {str(item)!r}, which nobody answered or which is not "
                f"in the data; items are for example {_some(items.labels)}."
            )
        if isinstance(answer, (list, tuple, set, frozenset)):
            found += items.options_named(i, answer)
        elif (text := normalise(answer)) is not None:
            found += items.options_named(i, str(text))
    return np.array(found, dtype=np.int64)


def answers_here(items: Items, answers: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """The known answers to these items (those of one component, say)."""
    return {i: a for i, a in (answers or {}).items() if str(i).strip() in items.places}


def item_places(labels: Array, items: Any) -> Array:
    """Places of items given by name; numbers are taken as places.

    >>> item_places(np.array(["q1", "q2"], dtype=object), ["q2"]).tolist()
    [1]
    """
    if isinstance(items, np.ndarray) and items.dtype.kind in "iub":
        return items
    given = list(items)
    if all(isinstance(item, (int, np.integer)) for item in given):
        return np.array(given, dtype=np.int64)
    places = {label: place for place, label in enumerate(labels.tolist())}
    unknown = [str(item) for item in given if item not in places]
    if unknown:
        raise InputError(
            f"There is no item {unknown[0]!r}; items are for example {_some(labels)}."
            + did_you_mean(unknown[0], [str(label) for label in labels.tolist()])
        )
    return np.array([places[item] for item in given], dtype=np.int64)


def covered_items(items: Items, known: Mapping[Any, Any]) -> Flags:
    """Which items a mapping (item → anything) has an entry for."""
    names = {str(item).strip() for item in known}
    return np.array([str(item).strip() in names for item in items.labels], dtype=bool)


def said_of(labels: Iterable[Any], given: Mapping[Any, Any] | str) -> Array:
    """What a mapping says of each label, compared as text; ``None`` where it says nothing.

    ``"names"`` stands for the labels themselves: what is before the number at their end.

    >>> said_of([1, 2, 3], {"1": "first half", 3: "second half"}).tolist()
    ['first half', None, 'second half']
    >>> said_of(["text-3-q1", "text-3-q2", "law/12", "algebra07", "last"], "names").tolist()
    ['text-3', 'text-3', 'law', 'algebra', None]
    """
    texts = [str(label).strip() for label in labels]
    if isinstance(given, str):
        if given != "names":
            raise InputError(f"expected a mapping, or 'names' for what names say; got {given!r}.")
        values = [match and match[1] for match in map(NUMBERED.fullmatch, texts)]
    else:
        held = {str(label).strip(): value for label, value in given.items()}
        values = [held.get(text) for text in texts]
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def mapping_of(given: Any) -> Mapping[Any, Any] | None:
    """A mapping, a Series or a frame of two columns as a mapping; ``None`` for anything else.

    >>> import polars as pl
    >>> mapping_of(pl.DataFrame({"item": ["q1"], "answer": ["A"]}))
    {'q1': 'A'}
    >>> mapping_of("key.csv") is None
    True
    """
    if isinstance(given, Mapping):
        return given
    if hasattr(given, "columns"):
        import narwhals as nw

        frame = nw.from_native(given, pass_through=True)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        if not isinstance(frame, nw.DataFrame):
            return None
        if len(frame.columns) < 2:
            raise InputError(
                f"a table of a key needs two columns, item and answer; it has {frame.columns}."
            )
        names, values = frame.columns[:2]
        return dict(zip(frame[names].to_list(), frame[values].to_list(), strict=True))
    return given.to_dict() if hasattr(given, "index") and hasattr(given, "to_dict") else None


def no_such_user(user: Any, labels: Iterable[Any]) -> InputError:
    """The error for a user who is not in the data; ``labels`` are some or all users."""
    names = [str(label) for label in labels]
    text = str(user).strip()
    return InputError(
        f"There is no user {text!r}; users are for example {_some(names)}."
        + did_you_mean(text, names)
    )


def _some(labels: Iterable[Any]) -> str:
    return ", ".join(repr(str(label)) for label in list(labels)[:3])
