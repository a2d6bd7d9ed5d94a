"""Users that have a file or folder each: they are named by the part of the path that differs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Document
from hitsndiffs.reading.exports.common import stem_of_name
from hitsndiffs.reading.exports.format import Stream
from hitsndiffs.reading.vocabulary import is_key_name

__all__ = ["name_users", "told_apart"]


def told_apart(places: Sequence[tuple[str, ...]], items: Sequence[frozenset[str]]) -> list[str]:
    """Return the user of each file, given the parts of its path and the items in it.

    Files that share items belong to different users. Of all parts of the paths (the last is the
    file's own name) the one is taken that tells these files apart with the fewest users: a model
    may have a file per topic. If no part does, several together do.

    Examples
    --------
    >>> told_apart([("gpt", "out"), ("llama", "out")], [frozenset("ab")] * 2)
    ['gpt', 'llama']
    >>> topics = [frozenset("ab"), frozenset("cd")] * 2
    >>> told_apart([("gpt", "law"), ("gpt", "art"), ("llama", "law"), ("llama", "art")], topics)
    ['gpt', 'gpt', 'llama', 'llama']
    """
    depth = max((len(parts) for parts in places), default=0)
    padded = [("",) * (depth - len(parts)) + parts for parts in places]
    levels = list(range(depth))[::-1]
    for size in range(1, depth + 1):
        found = []
        for chosen in combinations(levels, size):
            labels = ["/".join(filter(None, (own[k] for k in sorted(chosen)))) for own in padded]
            if _fits(labels, items):
                found.append(labels)
        if found:
            return min(found, key=lambda labels: len(set(labels)))
    return ["/".join(parts) for parts in places]


def _fits(labels: Sequence[str], items: Sequence[frozenset[str]]) -> bool:
    """Whether each file has a label, and no item occurs twice under the same one."""
    seen: dict[str, set[str]] = {}
    for label, own in zip(labels, items, strict=True):
        known = seen.setdefault(label, set())
        if not label or known & own:
            return False
        known |= own
    return True


def name_users(files: Sequence[tuple[Document, Stream]]) -> None:
    """Name the users of the streams that have one for the whole file; a file may be the key."""
    alone = [pair for pair in files if pair[1].user_is_file]
    own = [pair for pair in alone if not _is_key(*pair)]
    if alone and len(alone) == len(files) and not own:
        raise InputError(
            f"{alone[0][0].name}: this is a key, the right answers without those of any user; give "
            "the answers of the users beside it, all in one folder."
        )
    places = [(*document.folders, stem_of_name(document.name)) for document, _ in own or alone]
    _tell_tests_apart(places, [stream for _, stream in own or alone])
    labels = told_apart(
        places, [frozenset(one.item for one in stream.entries) for _, stream in own or alone]
    )
    for label, (_, stream) in zip(labels, own or alone, strict=True):
        stream.entries = [one._replace(person=label) for one in stream.entries]
        stream.notes.append("The users are named by the part of the path that tells them apart.")
    for document, stream in alone if own else []:
        if _is_key(document, stream):
            right = {one.item: one.answer for one in stream.entries}
            stream.entries = []
            for _, other in own:
                other.key_from = document.name
                other.entries = [one._replace(key=right.get(one.item, ())) for one in other.entries]


def _is_key(document: Document, stream: Stream) -> bool:
    """Whether a file holds the right answers: it says so, or is named so."""
    return stream.key_from == document.name or is_key_name(stem_of_name(document.name))


def _tell_tests_apart(places: Sequence[tuple[str, ...]], streams: Sequence[Stream]) -> None:
    """Put the name of the test before the items, if items of different tests have the same names.

    Two files hold the same test if the right answers to the items that they share are the same.
    """
    tests: list[dict[str, tuple[str, ...]]] = []
    of_file: list[int] = []
    for stream in streams:
        keys = {one.item: one.key for one in stream.entries}
        fits = (
            k for k, test in enumerate(tests)
            if (shared := test.keys() & keys) and all(test[item] == keys[item] for item in shared)
        )  # fmt: skip
        of_file.append(next(fits, len(tests)))
        if of_file[-1] == len(tests):
            tests.append({})
        tests[of_file[-1]].update(keys)
    if len({item for test in tests for item in test}) == sum(map(len, tests)):
        return
    depth = min(map(len, places))
    for level in range(1, depth + 1):
        names = {(test, parts[-level]) for test, parts in zip(of_file, places, strict=True)}
        if len(names) == len(tests) == len({name for _, name in names}):
            for stream, parts in zip(streams, places, strict=True):
                test = parts[-level]
                stream.entries = [one._replace(item=f"{test}/{one.item}") for one in stream.entries]
                stream.titles = {f"{test}/{i}": text for i, text in stream.titles.items()}
            return
