"""Data for the tests of charts, reports and notebook views."""

from __future__ import annotations

from functools import cache
from html.parser import HTMLParser

import numpy as np

import hitsndiffs as hnd

#: Names that mean something to a browser, a spreadsheet, Vega, Jinja or a terminal.
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "=1+1",
    "a.b[c]",
    "\"quoted\" & 'x'",
    "x" * 300,
    "line\nbreak",
    "</script><script>alert(1)</script>",
    ' role="x"',
    "datum.user",
    "{{7*7}}",
    "javascript:alert(1)",
    "\x1b[31m red",
    "](x)",
    "‮reversed",
]


class Html(HTMLParser):
    """What a browser would see: tags with their attributes, and text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    def of(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of all tags of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]

    def is_harmless(self) -> bool:
        """Whether names brought no tag and no handler with them."""
        handlers = [name for _, own in self.tags for name in own if name.startswith("on")]
        return not handlers and not self.of("img") and not self.of("b")


def graded(users: list[str], items: list[str], options: list[str], seed: int = 0) -> np.ndarray:
    """Answers of users of different ability, as labels."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=len(users))
    key = rng.integers(0, len(options), len(items))
    knows = rng.random((len(users), len(items))) < 1 / (1 + np.exp(-1.7 * ability))[:, None]
    guess = rng.integers(0, len(options), knows.shape)
    return np.array(options, dtype=object)[np.where(knows, key, guess)]


def hostile() -> hnd.Responses:
    """Every user, item and option has a name that could do harm."""
    users = [f"{name}{number or ''}" for number in range(2) for name in HOSTILE]
    items = [f"{name}?" for name in HOSTILE]
    options = [HOSTILE[0], "=2", HOSTILE[6], '"' + "y" * 200]
    return hnd.Responses.from_wide(graded(users, items, options), users=users, items=items)


@cache
def hostile_report() -> str:
    """A report on them, with a key and a file of such names; to draw it takes a second."""
    from hitsndiffs.show.report import report_html

    ranking = hnd.rank(hostile())
    key = dict.fromkeys(ranking.responses.items, HOSTILE[0])
    return report_html(ranking, key=key, file=f"/nowhere/{HOSTILE[6].replace('/', '-')}.csv")


def copied() -> hnd.Responses:
    """A class in which three students hand in the same sheet."""
    users = [f"student-{j:02d}" for j in range(40)]
    items = [f"q{i}" for i in range(60)]
    rng = np.random.default_rng(4)
    right = 1 / (1 + np.exp(-1.3 * (rng.normal(0.5, 1, (40, 1)) - rng.normal(0, 1, 60))))
    right[0] = 0.5
    table = np.where(rng.random((40, 60)) < right, 0, rng.integers(1, 4, (40, 60)))
    table[1], table[2] = table[0], table[0]
    return hnd.Responses.from_wide(np.array(list("ABCD"))[table], users=users, items=items)


def handed_out() -> hnd.Ranking:
    """Thirty people label 150 pictures, six each picture; the last one always says cat."""
    rng = np.random.default_rng(5)
    truth, labels = rng.integers(3, size=150), np.array(["cat", "dog", "fox"])
    table = np.full((30, 150), None, dtype=object)
    for i in range(150):
        for j in rng.choice(30, 6, replace=False):
            right = j < 29 and rng.random() < 0.85
            table[j, i] = labels[truth[i] if right else 0 if j == 29 else rng.integers(3)]
    answers = hnd.Responses.from_wide(table, items=[f"picture-{i}" for i in range(150)])
    return hnd.rank(answers, answers={f"picture-{i}": str(labels[truth[i]]) for i in range(20)})
