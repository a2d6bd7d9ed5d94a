"""Tables with one row per item, and those that hold no answers: questions, statistics, counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hitsndiffs.data.encoding.names import find_column, recognise
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.reading.exports.base import Column, Refusal
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.layouts.header import looks_like_ids
from hitsndiffs.reading.layouts.layout import Layout, left_out_note
from hitsndiffs.reading.layouts.roles import wide_roles
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.tables.file_table import FileTable
from hitsndiffs.reading.vocabulary import plain, role_of_name, tokens

__all__ = ["refuse_aggregates", "refuse_questions", "turned_layout", "turned_round"]

#: This many columns are enough to tell whether a table is transposed.
_MOST_COLUMNS = 2000
#: With more columns than this, those of free text are not considered.
_MOST_TEXTS = 300
#: Answers to the same questions agree at least this often; other texts do not.
_AGREES = 0.15
#: A key is also looked for in this many columns at the end.
_LAST = 20
#: A column holds a user's answers if at least this share of its cells are right for some item.
_FITS = 0.7
#: In tables with users in columns, these names mean the key.
_KEYS = ("answer", "correct", "ans", "right")
_RATERS = frozenset(
    ("rater", "coder", "judge", "annotator", "labeler", "labeller", "reviewer", "grader", "ann",
     "annot", "anno", "observer", "expert", "evaluator", "assessor", "physician", "radiologist",
     "pathologist")
)  # fmt: skip
#: Columns beside those of users that sum them up.
_SUMS = frozenset(
    ("majority", "majorityvote", "majoritylabel", "mv", "consensus", "aggregated", "aggregate",
     "adjudicated", "agreement", "finallabel")
)  # fmt: skip
_OPTION = re.compile(
    r"(?:option|opt|choice|answer|alternative|antwort|réponse|opción|respuesta|risposta|"
    r"opção|resposta|antwoord|选项)?[\s_\-]?(?:[a-h]|[1-8])",
    re.IGNORECASE,
)
_STATISTICS = {
    "difficulty", "discrimination", "biserial", "pointbiserial", "variance", "mean", "median",
    "stddev", "standarddeviation", "facility", "facilityindex", "discriminationindex", "pvalue",
    "responses", "nresponses", "count", "frequency", "correctcount", "percentcorrect", "stdev",
    "itemvariance", "alpha", "reliability",
}  # fmt: skip
_COUNTS = {"count", "counts", "n", "votes", "nvotes", "frequency", "freq", "percent"}
#: A table of counts has few columns.
_FEW_COLUMNS = 4


def turned_round(table: FileTable) -> tuple[str, list[str]] | None:
    """Return why the rows are items, and the columns of users if they can be told; else None."""
    if not table.has_header or len(table.names) < 3 or len(table.sample) < 2:
        return None
    return _by_key(table) or _by_names(table) or _by_item(table) or _by_rows(table)


def _by_key(table: FileTable) -> tuple[str, list[str]] | None:
    """Recognise a column with the right answer to each row, beside the answers of users."""
    looked_at = [*table.names[:_MOST_COLUMNS], *table.names[_MOST_COLUMNS:][-_LAST:]]
    named = [n for n in looked_at if role_of_name(n) == "key"]
    item = recognise("item", table.names)
    if not named and item and not recognise("user", table.names):
        named = [n for n in looked_at if plain(n) in _KEYS and not _are_numbers(table, n)]
    if len(named) != 1 or plain(named[0])[-1:].isdigit():
        return None
    key = [c.strip() for c in table.cells(named[0]) if c.strip()]
    others = _answer_columns(table, exclude={named[0], *item})
    stock = {cell.strip() for name in others for cell in table.cells(name)}
    fits = sum(cell in stock for cell in key) >= _FITS * len(key)
    if len(others) < 2 or len(set(key)) < 2 or not fits:
        return None
    first = table.cells(table.names[0])
    if not item and len(set(first)) < len(first):
        return None
    right = set(key)
    if len(right) * 2 > len(key):  # each row has its own options
        options = [n for n in others if _OPTION.fullmatch(n.strip())]
        rest = [n for n in others if n not in options] if len(options) > 2 else others
        own = [n for n in rest if _agrees(table, n, [*rest, named[0]])]
    else:
        used = Counter(c for n in others for c in {c.strip() for c in table.cells(n)})
        right |= {text for text, n in used.items() if n > 1 and n * 3 > len(others)}
        own = [n for n in others if _share_in(table.cells(n), right) >= _FITS]
    if len(own) < 2 and not _share_options(table, others):
        return None
    return f"there is one right answer in each row ({named[0]!r})", own if len(own) > 1 else []


def _share_in(cells: list[str], stock: set[str]) -> float:
    texts = [text for cell in cells if (text := cell.strip())]
    return sum(text in stock for text in texts) / len(texts) if texts else 0.0


def _share_options(table: FileTable, names: list[str]) -> bool:
    """Whether two of the columns agree in most rows, so that they answer the same question."""
    places = [table.names.index(name) for name in names]
    rows = [[row[k].strip() for k in places if k < len(row)] for row in table.sample]
    return sum(len(set(row)) < len(row) for row in rows) * 2 > len(rows)


def _use_the_same(table: FileTable, names: list[str]) -> bool:
    """Whether most answers that occur in the columns occur in several of them."""
    used = Counter(text for n in names for text in {c.strip() for c in table.cells(n)})
    return sum(n > 1 for n in used.values()) * 2 > len(used)


def _by_names(table: FileTable) -> tuple[str, list[str]] | None:
    """Recognise columns named like users: student1, student2, …; rater A, rater B, …."""
    item = recognise("item", table.names)
    others = [n for n in table.names[:_MOST_COLUMNS] if n not in item and role_of_name(n) is None]
    numbered = [n for n in others if _is_numbered_user(n)]
    words = Counter(_first_word(name) for name in numbered)
    word, count = words.most_common(1)[0] if words else ("", 0)
    people = [n for n in numbered if _first_word(n) == word]
    if count > 1 and len(table.names) > _MOST_COLUMNS:
        people = [n for n in table.names if _first_word(n) == word and _is_numbered_user(n)]
    if count > 1 and (count * 2 > len(others) or word in _RATERS):
        first = table.cells((item or table.names)[0])
        if item and len(set(first)) == len(first):
            return f"each row is an item ({item[0]!r}) and the columns are named like users", people
        answers = [n for n in people if look_at(table.cells(n)).kind == "choice"]
        if word in _RATERS and len(answers) == len(people) and _use_the_same(table, people):
            return f"the columns are named like users ({people[0]!r}, {people[1]!r}, …)", people
    return None


def _by_item(table: FileTable) -> tuple[str, list[str]] | None:
    """Recognise rows that are each named as an item, and columns that answer the same questions."""
    item = recognise("item", table.names[:_MOST_COLUMNS])
    if not item or recognise("user", table.names[:_MOST_COLUMNS], wide=True):
        return None
    cells = [cell.strip() for cell in table.cells(item[0])]
    if len(set(cells)) < len(cells) or not all(cells) or len(cells) < 3:
        return None
    others = _answer_columns(table, exclude=set(item))
    own = [n for n in others if _agrees(table, n, others)]
    counts = [n for n in own if _are_numbers(table, n)]
    if len(counts) * 2 < len(own):
        own = [n for n in own if n not in counts]
    if len(own) < 3 or any(_OPTION.fullmatch(name.strip()) for name in own):
        return None
    return f"each row is an item ({item[0]!r})", own


def _by_rows(table: FileTable) -> tuple[str, list[str]] | None:
    """Recognise rows that are questions, or numbered like items, below columns that are not."""
    first, *names = table.names
    cells = [cell.strip() for cell in table.cells(first)]
    if len(cells) < 3 or len(set(cells)) < len(cells) or len(names) > _MOST_COLUMNS:
        return None
    asked = sum(cell.endswith("?") for cell in cells) * 5 >= len(cells) * 4
    if not asked and not (_are_numbered_items(cells) and not any(n[-1:].isdigit() for n in names)):
        return None
    own = _answer_columns(table, exclude={first})
    if len(own) < 3 or not _share_options(table, own) or any(map(_OPTION.fullmatch, own)):
        return None
    return f"the rows are named like items ({shortened(cells[0], 30)!r}, …)", own


def _are_numbered_items(cells: list[str]) -> bool:
    """Whether texts are a word for items and a number: Question 1, Question 2, …."""
    found = [re.fullmatch(r"(\D*?)[\W_]*\d+", cell) for cell in cells]
    words = {match[1].casefold() if match else "" for match in found}
    return len(words) == 1 and (words == {"q"} or bool(recognise("item", words)))


def _agrees(table: FileTable, name: str, others: list[str]) -> bool:
    """Whether a column often agrees with another one in a row; even the weakest user's does."""
    place = table.names.index(name)
    places = [table.names.index(other) for other in others if other != name]
    rows = [row for row in table.sample[:200] if place < len(row) and row[place].strip()]
    shared = sum(any(k < len(row) and row[k] == row[place] for k in places) for row in rows)
    return bool(rows) and shared >= _AGREES * len(rows)


def _are_numbers(table: FileTable, name: str) -> bool:
    return look_at(table.cells(name)).is_number


def _first_word(name: str) -> str:
    words = tokens(name)
    return words[0].rstrip("0123456789") if words else ""


def _is_numbered_user(name: str) -> bool:
    word, rest = _first_word(name), "".join(tokens(name)[1:])
    numbered = tokens(name)[0] != word or (0 < len(rest) <= 4) if tokens(name) else False
    return numbered and (word in _RATERS or bool(recognise("user", [word])))


def _answer_columns(table: FileTable, exclude: set[str]) -> list[str]:
    """Return the columns of answers, including texts that hardly repeat but agree with others."""
    kinds: dict[str, str] = {}
    for place, name in enumerate(table.names[:_MOST_COLUMNS]):
        other = role_of_name(name) or plain(name) in _SUMS or "correct" in tokens(name)
        if name not in exclude and not other:
            kind = look_at(table.cells_at(place)).kind
            if kind in ("choice", "text", "different"):
                kinds[name] = kind
    names = list(kinds)
    few = len(names) <= _MOST_TEXTS
    beside = [*names, *(n for n in exclude if n in table.names)]
    return [n for n in names if kinds[n] == "choice" or (few and _agrees(table, n, beside))]


# -- which columns are users ------------------------------------------------------------------


def turned_layout(
    table: FileTable, options: ReadingOptions, why: str, people: Sequence[str] = ()
) -> Layout:
    """Return the layout of a table with one row per item, and one column for each of the people."""
    notes = table.notes
    if options.item is not None:
        item: str | None = str(
            find_column(options.item, table.names, where=table.place.source, argument="item")
        )
    elif not options.transpose and "right answer" in why and not recognise("item", table.names):
        item = table.names[0]
        notes.append(f"Took the first column ({item!r}) as the item column.")
    else:
        item = _item_column(table)
    if options.transpose:
        users = [name for name in table.names if name != item]
        named = [n for n in users if table.has_header and role_of_name(n) == "key"]
        key = named[0] if len(named) == 1 else None
        users = [name for name in users if name != key]
        columns: list[Column] = []
    else:
        roles = wide_roles(table.names, table.sample, user=item or table.names[0])
        users = [n for n in roles.items if any(cell.strip() for cell in table.cells(n))]
        columns = [c for c in roles.columns if c.role not in ("item", "user")]
        if people:
            reason = "neither a user nor the key"
            columns += [Column(n, "unused", reason) for n in users if n not in people]
            columns = [c for c in columns if c.name not in people]
            users = list(people)
        keys = [c.name for c in columns if c.role == "key"]
        keys = keys or [c.name for c in columns if _is_key(c.name)]
        key = keys[0] if keys else None
        notes.append("The rows are items and the columns users (overrule with the layout wide).")
        others = [column for column in columns if column.name != key]
        if others:
            notes.append(left_out_note(others))
    places = {name: place for place, name in enumerate(table.names)}
    columns += [Column(name, "user", "the answers of one user", places[name]) for name in users]
    if item is not None:
        columns.append(Column(item, "item", "names the items", places[item]))
    if key is not None and not any(c.name == key for c in columns):
        columns.append(Column(key, "key", "named like a key", places[key]))
    columns.sort(key=lambda column: column.position)
    return Layout("transposed", why, columns, item=item, users=users, key=key)


def _is_key(name: str) -> bool:
    return role_of_name(name) == "key" or plain(name) in _KEYS


def _item_column(table: FileTable) -> str | None:
    """Return the column that names the items of a table with one row per item."""
    fitting = recognise("item", table.names) if table.has_header else []
    if fitting:
        table.notes.append(f"Recognised {fitting[0]!r} as the item column.")
        return str(fitting[0])
    first = table.names[0]
    if len(table.names) > 1 and looks_like_ids(table.cells(first), table.sample):
        table.notes.append(f"Took the first column ({first!r}) as the item column.")
        return first
    table.notes.append("There is no item column: the items are named item-1, item-2, ….")
    return None


# -- what cannot be ranked --------------------------------------------------------------------


def refuse_questions(table: FileTable) -> None:
    """Refuse lists of questions with options or one answer each: they name no users."""
    if not table.has_header or recognise("user", table.names):
        return
    item = recognise("item", table.names)
    if not item or len(set(table.cells(item[0]))) < len(table.sample):
        return
    options = [n for n in table.names if _OPTION.fullmatch(n.strip())]
    rest = [n for n in table.names if n not in (*options, *item)]
    keys = [n for n in rest if role_of_name(n) == "key" or plain(n) in ("answer", "correct")]
    if len(options) >= 3 and keys and len(rest) - len(keys) <= 3:
        raise Refusal(
            "a list of questions with their options, without anybody's answers",
            "give the answers that each person chose",
        )
    answers = {*recognise("answer", table.names), *recognise("option", table.names)} - {*item}
    others = [n for n in rest if n not in answers and role_of_name(n) is None]
    if answers and not others:
        raise Refusal(
            "one answer per item (a key, or the answers of one user)",
            "give a key beside the answers of the users, or a folder with one file per user",
        )


def refuse_aggregates(table: FileTable) -> None:
    """Refuse a report with statistics per question, or counts per answer: it holds no answers."""
    if not table.has_header or len(table.names) >= 60:
        return
    item = recognise("item", table.names)
    if not item or recognise("user", table.names):
        return
    counted = {plain(name) for name in table.names} & _COUNTS
    cells = table.cells(item[0])
    several = len(set(cells)) < len(cells) and recognise("option", table.names)
    if counted and several and len(table.names) <= _FEW_COLUMNS:
        raise Refusal(
            "a table of counts per answer, without the answers of the people",
            "export the answers that each person gave",
        )
    said = {
        plain(name) for name in table.names
        if plain(name) in _STATISTICS or any(word in _STATISTICS for word in tokens(name))
    }  # fmt: skip
    if len(said) >= 2:
        raise Refusal(
            f"a report with statistics per question ({listed(sorted(said), most=3)}), without the "
            "answers of the people",
            "export the answers that each person gave",
        )
