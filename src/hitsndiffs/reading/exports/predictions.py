"""One model per file or folder: its predictions beside the right answers, or by id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import (
    Choices,
    Column,
    Document,
    Format,
    Refusal,
    Sample,
    Sign,
    Stream,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    is_free_text,
    short_hash,
    stem_of_name,
    title_of,
    words,
)
from hitsndiffs.reading.exports.models import EVALSCOPE, MMLU_PRO, OPENCOMPASS
from hitsndiffs.reading.exports.sheet import Table
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.tables.nested import flat_table
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["ANSWERS_BY_ID", "PREDICTIONS"]

#: What a model said, best first; the others count only beside a key.
_PREDICTIONS = (
    words("parsedpred|parsedprediction|parsedanswer|extractedanswer|extractedprediction|extracted"),
    words(
        "prediction|predictions|pred|preds|predicted|predictedanswer|predictedlabel|predanswer|"
        "predlabel|predictedoption|predictedchoice|modelprediction|modelpred|modelanswer|"
        "modelchoice|llmanswer|llmprediction|ypred|answerpred|useranswer|studentanswer|"
        "givenanswer|youranswer|selectedanswer|chosenanswer|selectedoption|chosenoption"
    ),
    words("modelresponse|modeloutput|response|output|choice|selected"),
)
#: Beside a prediction, these are the right answers.
_RIGHT = words(
    "answer|answers|label|gold|gt|correct|correctanswer|goldanswer|goldlabel|groundtruth|target|"
    "standardanswer|trueanswer|truelabel|ytrue|reference|expected|expectedanswer|answeridx|"
    "answerindex|answerkey"
)
_IDS = words("item|id|idx|index|qid|docid|questionid|itemid|sampleid|instanceid|uid|no|number")
_TEXTS = words("question|questiontext|prompt|input|query|problem|stem|text|sentence")
_TOPICS = words("subject|category|task|dataset|topic|subset|split|subtask|domain|subcategory")
_OPTIONS = words("choices|options|endings|allchoices")


# -- predictions beside the right answers ----------------------------------------------------------


class _Columns:
    """The columns of a table of predictions."""

    def __init__(self, header: Sequence[str]) -> None:
        bare = [plain(name) for name in header]

        def first(wanted: frozenset[str]) -> list[int]:
            return [k for k, name in enumerate(bare) if name in wanted]

        self.answers = next((own for names in _PREDICTIONS if (own := first(names))), [])[:1]
        keys = [k for k, name in enumerate(header) if role_of_name(name) == "key"]
        self.keys = [k for k in (*first(_RIGHT), *keys) if k not in self.answers][:1]
        self.ids, self.texts, self.topics = first(_IDS), first(_TEXTS), first(_TOPICS)
        self.options = first(_OPTIONS)
        named = [header.index(name) for name in recognise("user", list(header))]
        names = first(words("name|username"))
        if not self.ids and not self.texts:  # the name of an image, or of a member of an object
            self.ids, names = names[:1], names[1:]
        self.users = [k for k in (*named, *names) if k not in self.topics]

    @property
    def fits(self) -> bool:
        """Whether there are items, answers and right answers."""
        return bool(self.answers and self.keys and (self.ids or self.texts))

    def take(self, argument: str, place: int) -> None:
        """Take the column that the caller named as the user, the item or the option."""
        if argument == "user":
            self.users = [place]
        elif argument == "item":
            self.ids = [place]
        else:
            self.answers = [place]
            self.keys = [k for k in self.keys if k != place]

    def are_choices(self, rows: Sequence[Sequence[str]]) -> bool:
        """Whether predictions and right answers are of one kind, and all are one user's."""
        said, right = (
            [row[k].strip().removesuffix(".0") for row in rows if row[k].strip()]
            for k in (self.answers[0], self.keys[0])
        )
        one = all(len({row[k].strip() for row in rows}) < 2 for k in self.users)
        places = [*self.topics, *(self.ids[:1] or self.texts[:1])]
        names = [tuple(row[k] for k in places) for row in rows]
        told = len({*names}) == len(names)  # an item that repeats is answered by several users
        return one and told and not {*said}.isdisjoint(right) and not is_free_text(right)


def _is_beside(sample: Sample) -> bool:
    if sample.is_json and sample.records:
        records = list(sample.records)
        whole = sample.kind == "json" and len(records) == 1 and isinstance(records[0], dict)
        named = [record for record in records if isinstance(record, dict)]
        if not named or any(
            other.recognise(sample) for other in (EVALSCOPE, MMLU_PRO, OPENCOMPASS)
        ):
            return False
        try:
            table = flat_table(records[0] if whole else records)[0]
        except InputError:
            return False  # points, or counts
        header, rows = table.header, table.rows
    else:
        header, rows = list(sample.header), sample.full_rows
    columns = _Columns(header)
    return 0 < len(header) <= 1000 and columns.fits and columns.are_choices(rows)


def _table(document: Document) -> Table:
    if document.kind == "json":
        return flat_table(document.data())[0]
    if document.kind == "jsonl":
        return flat_table(list(document.records()))[0]
    return document.table()


def _convert(document: Document, choices: Choices) -> Stream:
    table = _table(document)
    columns = _Columns(table.header)
    for argument in ("user", "item", "option"):
        if (said := getattr(choices, argument)) is not None:
            name = find_column(said, table.header, where=document.name, argument=argument)
            columns.take(argument, table.header.index(name))
    if not columns.fits:
        raise Refusal(
            "a table without predictions beside the right answers",
            "omit the format so that it is detected",
        )
    answer, right = columns.answers[0], columns.keys[0]
    stream = Stream(key_from=f"the column {table.header[right]!r}")
    people = [" ".join(row[k].strip() for k in columns.users[:1]) for row in table.rows]
    stream.user_is_file = not any(people)
    people = [stem_of_name(document.name)] * len(people) if stream.user_is_file else people
    items = _items(table, columns, people, stream)
    if stream.user_is_file and 2 * len({*items}) <= len(items):
        raise Refusal(
            "a table of predictions by several users, whom no column seems to name",
            "name the column that does (user)",
        )
    for row, item, person in zip(table.rows, items, people, strict=True):
        said, key = (row[k].strip().removesuffix(".0") for k in (answer, right))
        given = None if said.startswith("-") and not key.startswith("-") else said
        stream.add(person, item, given, key=key, status="unreadable" if given is None else None)
    stream.columns += [
        Column(table.header[answer], "answers", "what the user answered", answer),
        Column(table.header[right], "key", "the right answers stand beside", right),
    ]
    stream.number_repeats()
    return stream


def _items(table: Table, columns: _Columns, people: Sequence[str], stream: Stream) -> list[str]:
    """Return the item of each row: its id, with the topic if ids begin anew, or else its text."""
    topics = [" ".join(row[k].strip() for k in columns.topics[:1]) for row in table.rows]
    texts = [k for k in columns.texts if not is_free_text(row[k] for row in table.rows)]
    for place in (*columns.ids, *texts):
        names = [row[place].strip() for row in table.rows]
        both = [f"{t}/{name}" if t else name for t, name in zip(topics, names, strict=True)]
        for labels in (names, both):
            if all(names) and len({*zip(people, labels, strict=True)}) == len(labels):
                return labels
    places = [*columns.topics, *columns.texts, *columns.options] or columns.ids
    labels = []
    for row, topic in zip(table.rows, topics, strict=True):
        text = row[columns.texts[0]] if columns.texts else ""
        code = short_hash("\n".join(row[k] for k in places))
        labels.append(f"{topic}/{code}" if topic else code)
        stream.titles.setdefault(labels[-1], title_of(text))
    return labels


PREDICTIONS = Format(
    "predictions",
    "Predictions beside the right answers, one model per file or folder",
    "Results of MMLU and the like, as scripts write them: CSV, Parquet or JSON; give the folder",
    (Sign("predictions stand beside right answers, and nothing names a user", holds=_is_beside),),
    _convert,
    "Parquet files of two models, in folders named after them",
)


# -- {id: letter} ----------------------------------------------------------------------------------


def _by_id(value: Any) -> tuple[dict[str, str], bool]:
    """Return the answers by id, and whether they are the right ones; nothing for other objects.

    Examples
    --------
    >>> _by_id({f"q{k}": "ABA"[k % 3] for k in range(6)})[1]
    False
    >>> _by_id({f"q{k}": {"ground_truth": "A", "type": "choice"} for k in range(6)})[1]
    True
    """
    own = value if isinstance(value, dict) else {}
    given = {str(name): one for name, one in own.items() if one is not None}
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
    if any(plain(name) in words for name in own for words in _PREDICTIONS):
        return None
    return next((one for name, one in own.items() if role_of_name(name) == "key"), None)


def _convert_by_id(document: Document, _: Choices) -> Stream:
    found, is_key = _by_id(document.data())
    if not found:
        raise Refusal("no object with an answer under each id", "omit the format")
    stream = Stream(user_is_file=True, key_from=document.name if is_key else "")
    for item, answer in found.items():
        stream.add(stem_of_name(document.name), item, answer)
    return stream


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
    _convert_by_id,
    "two models of MMMU, in folders named after them",
)
