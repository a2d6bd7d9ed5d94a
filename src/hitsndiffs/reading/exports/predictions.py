"""One model per file or folder: its predictions beside the right answers, or by id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.errors import InputError
from hitsndiffs.reading.accord import accord_of, numbers_of
from hitsndiffs.reading.exports.base import (
    MOST_COLUMNS,
    Choices,
    Document,
    Refusal,
    Sample,
    Sign,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    inner,
    is_free_text,
    short_hash,
    single,
    stem_of_name,
    title_of,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.sheet import Table, sheet_of
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.tables.nested import flat_table
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["ANSWERS_BY_ID", "FORMATS", "are_by_topic"]

#: What columns hold, by their names without signs; those of answers stand best first.
_NAMES = {
    "answer": """parsedpred parsedprediction parsedanswer extractedanswer extractedprediction
        extracted prediction predictions pred preds predicted predictedanswer predictedlabel
        predanswer predlabel predictedoption predictedchoice modelprediction modelpred modelanswer
        modelchoice llmanswer llmprediction ypred answerpred useranswer studentanswer givenanswer
        youranswer selectedanswer chosenanswer selectedoption chosenoption
        modelresponse modeloutput response output choice selected""",
    "key": """answer answers label gold gt correct correctanswer goldanswer goldlabel groundtruth
        target standardanswer trueanswer truelabel ytrue reference expected expectedanswer
        answeridx answerindex answerkey""",
    "item": "item id idx index qid docid questionid itemid sampleid instanceid uid no number",
    "text": "question questiontext prompt input query problem stem text sentence",
    "topic": "subject category task dataset topic subset split subtask domain subcategory",
    "options": "choices options endings allchoices",
    "name": "name username",
}
_ROLES = {role: tuple(names.split()) for role, names in _NAMES.items()}


# -- predictions beside the right answers ----------------------------------------------------------


def _columns(header: Sequence[str]) -> dict[str, list[int]]:
    """Return the columns by what they hold, the best first."""
    bare = [plain(name) for name in header]
    found = {
        role: [k for k, name in enumerate(bare) if name in names] for role, names in _ROLES.items()
    }
    found["answer"].sort(key=lambda k: _ROLES["answer"].index(bare[k]))
    if not found["item"] and not found["text"]:  # of an image, or of a member of an object
        found["item"], found["name"] = found["name"][:1], found["name"][1:]
    users = [header.index(name) for name in recognise("user", list(header))]
    found["user"] = [k for k in (*users, *found["name"]) if k not in found["topic"]]
    keys = [k for k, name in enumerate(header) if role_of_name(name) == "key"]
    found["key"] = [k for k in (*found["key"], *keys) if k not in found["answer"][:1]]
    return found


def _fits(columns: dict[str, list[int]]) -> bool:
    """Whether there are answers, right answers and items."""
    return bool(columns["answer"] and columns["key"] and (columns["item"] or columns["text"]))


def _is_beside(sample: Sample) -> bool:
    """Whether answers and right answers are of one kind, and all answers are one user's."""
    header, rows = list(sample.header), sample.full_rows
    if sample.is_json:
        whole = sample.kind == "json" and len(sample.records) == 1 and sample.first
        try:
            table, _ = flat_table(whole or list(sample.records))
        except InputError:
            return False  # points, or counts
        header, rows = table.header, table.rows
    if not 0 < len(header) <= MOST_COLUMNS or not _fits(columns := _columns(header)):
        return False
    said, right = _said(header, rows, columns)
    one = all(len({row[k].strip() for row in rows}) < 2 for k in columns["user"])
    places = [*columns["topic"], *(columns["item"][:1] or columns["text"][:1])]
    names = [tuple(row[k] for k in places) for row in rows]
    told = len({*names}) == len(names)  # an item that repeats is answered by several users
    shared = ({*said} & {*right}) - {""}
    return one and told and bool(shared) and not is_free_text(right)


#: A letter, perhaps with the text of the option behind it.
_LETTER = re.compile(r"\W{0,3}([A-Z])(?:[.):\]*].*)?", re.DOTALL)


def _said(
    header: Sequence[str], rows: Sequence[Sequence[str]], columns: dict[str, list[int]]
) -> tuple[list[str], list[str]]:
    """Return the answers and the right answers; where these are letters, so are the others."""
    said, right = (
        [row[columns[role][0]].strip().removesuffix(".0") for row in rows]
        for role in ("answer", "key")
    )
    if not all(_LETTER.fullmatch(text) and len(text) == 1 for text in right if text):
        return said, right
    letters = [k for k, name in enumerate(header) if len(name.strip()) == 1]
    for k, (text, row) in enumerate(zip(said, rows, strict=True)):
        same = [header[place].strip() for place in letters if text and row[place].strip() == text]
        found = _LETTER.fullmatch(text)
        said[k] = same[0] if same else found[1] if found else text
    return said, right


def _beside(document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
    table: Table
    if document.kind in ("json", "jsonl"):
        lines = document.kind == "jsonl"
        table, _ = flat_table(list(document.records()) if lines else document.data())
    else:
        table = sheet_of(document, choices, stream)
    header, columns = table.header, _columns(table.header)
    for role, said in (("user", choices.user), ("item", choices.item), ("answer", choices.option)):
        if said is not None:
            name = find_column(said, header, where=document.name, argument=role)
            columns[role] = [header.index(name)]
    columns["key"] = [k for k in columns["key"] if k not in columns["answer"][:1]]
    if not _fits(columns):
        return
    answer, right = columns["answer"][0], columns["key"][0]
    stream.key_from = f"the column {header[right]!r}"
    people = [row[k].strip() for k in columns["user"][:1] for row in table.rows]
    stream.user_is_file = not any(people)
    if stream.user_is_file:
        people = [stem_of_name(document.name)] * len(table.rows)
    items = _items(table.rows, columns, people)
    if stream.user_is_file and 2 * len({*items}) <= len(items):
        raise Refusal(
            "a table of predictions by several users, whom no column seems to name",
            "name the column that does (user)",
        )
    stream.set_role(header[answer], "answers", "what the user answered", answer)
    stream.set_role(header[right], "key", "the right answers stand beside", right)
    answers, keys = _said(header, table.rows, columns)
    for k, (said, key) in enumerate(zip(answers, keys, strict=True)):
        given = "" if said.startswith("-") and not key.startswith("-") else said
        title = "".join(title_of(table.rows[k][place]) for place in columns["text"][:1])
        yield Given(people[k], items[k], single(given), key=single(key), title=title)


def _items(
    rows: Sequence[Sequence[str]], columns: dict[str, list[int]], people: Sequence[str]
) -> list[str]:
    """Return the item of each row: its id, with the topic if ids begin anew, or else its text."""
    topics = [" ".join(row[k].strip() for k in columns["topic"][:1]) for row in rows]
    texts = [k for k in columns["text"] if not is_free_text(row[k] for row in rows)]
    for place in (*columns["item"], *texts):
        names = [row[place].strip() for row in rows]
        both = [
            f"{topic}/{name}" if topic else name for topic, name in zip(topics, names, strict=True)
        ]
        for labels in (names, both):
            if all(names) and len({*zip(people, labels, strict=True)}) == len(labels):
                return labels
    parts = ("topic", "text", "options")
    places = [k for part in parts for k in columns[part]] or columns["item"]
    codes = [short_hash("\n".join(row[k] for k in places)) for row in rows]
    return [f"{topic}/{code}" if topic else code for topic, code in zip(topics, codes, strict=True)]


PREDICTIONS = Format(
    "predictions",
    "Predictions beside the right answers, one model per file or folder",
    "Results of MMLU and the like, as scripts write them: CSV, Parquet or JSON; give the folder",
    (Sign("predictions stand beside right answers, and nothing names a user", holds=_is_beside),),
    _beside,
    tried="Parquet files of two models, in folders named after them",
    empty=(
        "a table without predictions beside the right answers",
        "omit the format so that it is detected",
    ),
    none="unreadable",
)


# -- {id: letter} ----------------------------------------------------------------------------------

#: So many files with topics tell users from topics, if they agree more than this beyond chance,
#: and so many times more than the topics do.
_FILES, _ALIKE, _CLEARLY = 3, 0.1, 4


def _by_id(value: Any) -> tuple[dict[str, str], bool]:
    """Return the answers by id, and whether they are the right ones; nothing for other objects."""
    given = {str(name): one for name, one in inner(value).items() if one is not None}
    keys = {n: v for name, one in given.items() for n, v in [(name, _right(one))] if v}
    is_key = len(keys) == len(given)
    answers = keys if is_key else given
    if len(given) < 5 or not all(isinstance(one, (str, int)) for one in answers.values()):
        return {}, False
    texts = [as_text(one) for one in answers.values()]
    named = sum(any(c.isdigit() for c in name) for name in given) * 2 > len(given)
    choices = look_at(texts).kind == "choice" and len({*texts}) * 2 <= len(texts)
    short = sum(len(text) <= 2 for text in texts) * 2 > len(texts)
    found = dict(zip(answers, texts, strict=True)) if named and (choices or short) else {}
    return found, is_key


def _right(value: Any) -> Any:
    """Return the right answer in a record that holds one and no prediction."""
    own = value if isinstance(value, dict) else {}
    if any(plain(name) in _ROLES["answer"] for name in own):
        return None
    return next((one for name, one in own.items() if role_of_name(name) == "key"), None)


def _by_topic(value: Any) -> dict[str, Any]:
    """Return what stands in objects within objects, under all names that lead to it.

    Examples
    --------
    >>> _by_topic({"law": {"0": "A", "1": "C"}, "art": {"0": "B"}})
    {'law/0': 'A', 'law/1': 'C', 'art/0': 'B'}
    """
    found: dict[str, Any] = {}
    for name, one in inner(value).items():
        inside = _by_topic(one) if isinstance(one, dict) else {"": one}
        found |= {f"{name}/{n}" if n else str(name): own for n, own in inside.items()}
    return found


def are_by_topic(files: Sequence[Document]) -> bool:
    """Whether files hold the answers of one user each, by topic and id, not by user and item.

    Then the answers under the same names in several files agree, and those of the topics do not:
    they have items of their own, or numbers that say nothing across topics. Attempts of the same
    people at a test agree in both ways.
    """
    users, items, answers = list[str](), list[str](), list[str]()
    if len(files) < _FILES:
        return False
    for k, document in enumerate(files):
        value = document.data()
        if not inner(value) or not all(isinstance(one, dict) for one in value.values()):
            return False
        found, _ = _by_id(_by_topic(value))
        if not found:
            return False
        last = [name.rpartition("/")[2] for name in found]
        if len({*last}) < len(last) and not all(map(str.isdecimal, last)):
            return False
        users += [f"{k}/{name}" for name in last]
        items += found
        answers += found.values()
    told = accord_of(numbers_of(users), numbers_of(items), numbers_of(answers))
    return told.items > max(_ALIKE, _CLEARLY * told.users)


def _answers_by_id(document: Document, _: Choices, stream: Stream) -> Iterator[Given]:
    value = document.data()
    found, is_key = _by_id(value)
    if not found:
        found, is_key = _by_id(_by_topic(value))
    stream.user_is_file, stream.key_from = True, document.name if is_key else ""
    for item, answer in found.items():
        yield Given(stem_of_name(document.name), item, single(answer))


ANSWERS_BY_ID = Format(
    "answers-by-id",
    "Answers by id, one model per file or folder",
    'JSON such as {"q1": "A", "q2": "C"} for each model (MMMU and the like); give the folder',
    (
        Sign(
            "an answer stands under each id",
            holds=lambda sample: (
                sample.kind == "json" and len(sample.records) == 1 and bool(_by_id(sample.first)[0])
            ),
        ),
    ),
    _answers_by_id,
    tried="two models of MMMU, in folders named after them",
    empty=("no object with an answer under each id", "omit the format"),
)

FORMATS = (PREDICTIONS, ANSWERS_BY_ID)
