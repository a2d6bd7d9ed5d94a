# ruff: noqa: E501, SIM905
"""Small tables as many tools and people write them, with what reading each must give.

They are simulated. Each was written down with its outcome before it was read for the first time;
none of them stands for a rule of the reader.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
from formats.quiz import xlsx_bytes
from known_files import Known

Files = dict[str, bytes]
FIRST = """Anna Ben Cleo David Eda Farid Gina Hugo Ines Jonas Katja Luis Mira Nils Olga Pavel Quinn
    Rosa Sven Tara Umut Vera Willem Xenia Yusuf Zoe Alma Bruno Chloe Dario""".split()
LAST = """Albrecht Borges Castro Dupont Eriksen Fischer Garcia Haas Ivanova Janssen Keller Lopez
    Moreau Novak Okafor Petrov Quist Rossi Santos Tanaka Ueda Vogel Weber Xu Yilmaz Zeman Adler
    Brandt Costa Durand""".split()
MODELS = ["gpt-4o", "llama-3-8b", "mistral-7b", "qwen2-72b", "gemma-9b", "phi-3", "yi-34b", "o1"]


def answers(m: int, n: int, k: int = 4, seed: int = 0, blank: float = 0.0) -> tuple[Any, Any]:
    """Return who chose which option of a test (users × items, -1 for none), and the key."""
    chance = np.random.default_rng(seed)
    ability, easy = chance.normal(size=m), chance.normal(size=n)
    key = chance.integers(k, size=n)
    right = chance.random((m, n)) < 1 / (1 + np.exp(-(0.6 + 1.3 * ability[:, None] + easy)))
    weights = chance.dirichlet(np.full(k, 1.5), size=n)
    other = np.array([[chance.choice(k, p=weights[j]) for j in range(n)] for _ in range(m)])
    chosen = np.where(right, key, other)
    return np.where(chance.random((m, n)) < blank, -1, chosen), key


def letters(chosen: Any, marks: Sequence[str] = "ABCDE") -> list[list[str]]:
    return [[marks[c] if c >= 0 else "" for c in row] for row in np.atleast_2d(chosen).tolist()]


def people(m: int) -> list[str]:
    return [f"{FIRST[i % 30]} {LAST[(7 * i) % 30]}" for i in range(m)]


def as_csv(rows: Sequence[Sequence[Any]], separator: str = ",") -> bytes:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def sheet(
    m: int,
    items: Sequence[str],
    user: str = "id",
    *,
    k: int = 4,
    seed: int = 0,
    before: Sequence[tuple[str, Callable[[int], Any]]] = (),
    after: Sequence[tuple[str, Callable[[int], Any]]] = (),
    who: Sequence[Any] | None = None,
    marks: Sequence[str] = "ABCDE",
    separator: str = ",",
    above: Sequence[Sequence[str]] = (),
    header: bool = True,
    below: Sequence[Sequence[str]] = (),
    first: bool = True,
    blank: float = 0.03,
) -> Files:
    """A class: one row per person."""
    rows = letters(answers(m, len(items), k, seed, blank)[0], marks)
    who = [f"s{100 + 7 * i}" for i in range(m)] if who is None else who
    table = []
    if header:
        names = [*(n for n, _ in before), *items, *(n for n, _ in after)]
        table.append([user, *names] if first else [*names, user])
    for i, row in enumerate(rows):
        line = [*(f(i) for _, f in before), *row, *(f(i) for _, f in after)]
        table.append([who[i], *line] if first else [*line, who[i]])
    return {"class.csv": as_csv([*above, *table, *below], separator)}


def numbered(word: str, n: int) -> list[str]:
    return [f"{word}{k + 1}" for k in range(n)]


def cycle(*values: Any) -> Callable[[int], Any]:
    return lambda i: values[(i * 5 + i // 3) % len(values)]


def integers(low: int, high: int, seed: int = 1) -> Callable[[int], int]:
    found = np.random.default_rng(seed).integers(low, high, size=500).tolist()
    return lambda i: found[i]


def when(i: int) -> str:
    return f"2024-03-{1 + i % 28:02} {8 + i % 9:02}:{(7 * i) % 60:02}:11"


def triples(
    m: int, n: int, k: int = 3, seed: int = 0, share: float = 1.0, marks: Sequence[str] = "ABCDE"
) -> list[tuple[int, int, str, str]]:
    """One answer per row: user, item, answer, right answer; in random order."""
    chosen, key = answers(m, n, k, seed)
    chance = np.random.default_rng(seed + 1)
    found = [
        (i, j, marks[chosen[i, j]], marks[key[j]])
        for i in range(m)
        for j in range(n)
        if chance.random() < share
    ]
    return [found[p] for p in chance.permutation(len(found))]


def long(
    names: Sequence[str] | None,
    row: Callable[[int, int, str, str], Sequence[Any]],
    *,
    separator: str = ",",
    name: str = "labels.csv",
    **how: Any,
) -> Files:
    """One answer per row, in columns of any kind."""
    rows = [row(*one) for one in triples(**how)]
    return {name: as_csv([*([names] if names else []), *rows], separator)}


def turned(
    m: int,
    items: Sequence[str],
    columns: Sequence[str],
    corner: str = "item",
    *,
    k: int = 4,
    seed: int = 0,
    key: str | None = None,
    marks: Sequence[str] = "ABCDE",
) -> Files:
    """One row per item."""
    chosen, right = answers(m, len(items), k, seed)
    table: list[list[Any]] = [[corner, *([key] if key else []), *columns]]
    for j, item in enumerate(items):
        own = [marks[c] for c in chosen[:, j].tolist()]
        table.append([item, *([marks[right[j]]] if key else []), *own])
    return {"items.csv": as_csv(table)}


def one_user_files(m: int, n: int, write: Callable[[int, list[str], list[str]], Files]) -> Files:
    chosen, key = answers(m, n, 4, 5)
    files: Files = {}
    for i, row in enumerate(letters(chosen)):
        files |= write(i, row, letters(key)[0])
    return files


def strange_tables() -> Iterator[Known]:
    """Return all tables, with what reading them must give."""

    def one(
        name: str, files: Files, users: Any = None, items: Any = None, *, may: bool = False
    ) -> Known:
        numbers = [None if x is None else frozenset([x] if isinstance(x, int) else x)
                   for x in (users, items)]  # fmt: skip
        return Known(
            f"strange:{name}", None, *numbers, refuse=users is None, may_refuse=may, files=files
        )

    words = "photosynthesis osmosis mitosis enzyme ribosome lipid neuron genome".split()
    odd_words = "zip age time note date score grade key".split()

    # -- one row per user -------------------------------------------------------------------
    yield one("french class", sheet(
        18, numbered("Q", 12), "Nom", who=LAST, separator=";",
        before=[("Prénom", lambda i: FIRST[i]), ("Classe", cycle("2A", "2B"))],
        after=[("Note /20", integers(3, 20))]), 18, 12)  # fmt: skip
    yield one("german parts", sheet(
        15, ["A1a", "A1b", "A2a", "A2b", "A3", "A4"], "Matrikelnr.",
        who=[300400 + 13 * i for i in range(15)], separator=";",
        before=[("Studiengang", cycle("BWL", "Info")), ("Semester", cycle(2, 4, 6))],
        after=[("Summe", integers(0, 24))]), 15, 6)  # fmt: skip
    yield one("turkish", sheet(
        20, numbered("Soru ", 15), "Öğrenci No", k=5, who=[2024000 + i for i in range(20)],
        after=[("Doğru", integers(3, 15)), ("Yanlış", integers(0, 9)), ("Net", integers(0, 15))]),
        20, 15)  # fmt: skip
    yield one("items are words", sheet(20, words, "pupil"), 20, 8)
    yield one("items are links", sheet(
        14, [f"https://quiz.example/item?id={k}" for k in range(10)], "worker"), 14, 10)  # fmt: skip
    yield one("reasoning", sheet(
        25, ["reason.4", "reason.16", "reason.17", "letter.7", "letter.33", "matrix.45",
             "matrix.46", "rotate.3"], "subject", k=5), 25, 8)  # fmt: skip
    yield one("words like other columns", sheet(20, [*words[:5], *odd_words[:3]], "id"), 20, 8)
    yield one("true and false", sheet(
        22, numbered("Aussage ", 14), "Kürzel", k=2, marks=["wahr", "falsch"],
        who=[f"{FIRST[i][:2]}{LAST[i][:2]}" for i in range(22)]), 22, 14)  # fmt: skip
    yield one("id at the end", sheet(16, numbered("Q0", 10), "candidate", first=False), 16, 10)
    yield one("no header, ids", sheet(24, numbered("q", 12), header=False), 24, 12)
    yield one(
        "no header, no ids", {"data.csv": as_csv(letters(answers(30, 12)[0], "1234"))}, 30, 12
    )
    yield one("survey", sheet(
        25, numbered("s", 10), "respondent", k=5, marks="12345",
        before=[("sex", cycle("f", "m")), ("age", integers(18, 60))]), 25, 10)  # fmt: skip
    yield one("coded background", sheet(
        40, numbered("v", 12), "id", k=5, marks="12345",
        before=[("gender", cycle(1, 2)), ("agegrp", cycle(1, 2, 3, 4, 5)), ("edu", cycle(1, 2, 3))],
        ), 40, 12)  # fmt: skip
    yield one("scores after", sheet(
        18, numbered("Item ", 10), "Name", who=people(18),
        after=[("Raw", integers(2, 10)), ("%", lambda i: f"{40 + 3 * i % 60}%"),
               ("Grade", cycle("A", "B", "C")), ("Rank", lambda i: i + 1)]), 18, 10)  # fmt: skip
    yield one("texts below the names", {"class.csv": (
        lambda t: as_csv([t[0], ["", *[f"What is the {w}?" for w in words]], *t[1:]]))(
            list(csv.reader(io.StringIO(sheet(17, numbered("Q", 8))["class.csv"].decode()))))},
        17, 8)  # fmt: skip
    yield one("title and foot", sheet(
        15, numbered("Q", 9), "Student", who=people(15),
        above=[["Biology mid-term, spring"], [""]],
        below=[["Average", *["0.61"] * 9], [], ["Prepared by the exam office."]]), 15, 9)  # fmt: skip
    _, key = answers(20, 10, 4, 3)
    own = letters(key)[0]
    yield one("corrigé below", sheet(
        20, numbered("Q", 10), "élève", seed=3, who=people(20), below=[["CORRIGE", *own]]),
        20, 10)  # fmt: skip
    table = list(
        csv.reader(io.StringIO(sheet(20, numbered("Q", 10), seed=3)["class.csv"].decode()))
    )
    yield one("key without a name", {"class.csv": as_csv([table[0], ["", *own], *table[1:]])},
              20, 10, may=True)  # fmt: skip
    yield one("key in the header", sheet(
        20, [f"Q{j + 1} ({own[j]})" for j in range(10)], "Name", seed=3, who=people(20)),
        20, 10)  # fmt: skip
    yield one("one id twice", sheet(
        20, numbered("Q", 10), "Student ID", who=[*(f"u{i}" for i in range(19)), "u3"]),
        20, 10, may=True)  # fmt: skip
    yield one("index of pandas", {"class.csv": as_csv(
        [["", *table[0]], *[[k, *row] for k, row in enumerate(table[1:])]])}, 20, 10)  # fmt: skip
    yield one("times and addresses", sheet(
        16, numbered("q", 8), "Response ID", who=[f"R_{i:03}x" for i in range(16)],
        before=[("start", when), ("end", when), ("ip", lambda i: f"10.0.{i}.7")]), 16, 8)  # fmt: skip
    yield one("several choices", sheet(
        18, numbered("Q", 8), "name", who=people(18), marks=["A", "B", "A;C", "B;C;D"]),
        18, 8)  # fmt: skip
    chosen, key = answers(16, 6, 4, 7)
    rows, right = letters(chosen), letters(key)[0]
    names = people(16)
    yield one("marks beside", {"class.csv": as_csv([
        ["Name", *[f"Q{k + 1}{x}" for k in range(6) for x in ("", " mark")]],
        *[[names[i], *[y for j in range(6) for y in (rows[i][j], int(rows[i][j] == right[j]))]]
          for i in range(16)]])}, 16, 6)  # fmt: skip
    yield one("blocks", {"class.csv": as_csv([
        ["Name", *[f"{w} {k + 1}" for w in ("Response", "Correct", "Points") for k in range(6)]],
        *[[names[i], *rows[i], *right, *[int(a == b) for a, b in zip(rows[i], right, strict=True)]]
          for i in range(16)]])}, 16, 6)  # fmt: skip
    seconds = integers(4, 90)
    yield one("seconds beside", {"class.csv": as_csv([
        ["subj", *[f"Q{k + 1}{x}" for k in range(6) for x in ("", "_time")]],
        *[[f"p{i}", *[y for j in range(6) for y in (rows[i][j], seconds(6 * i + j) / 10)]]
          for i in range(16)]])}, 16, 6)  # fmt: skip
    sure = integers(1, 6)
    yield one("confidence beside", {"class.csv": as_csv([
        ["subj", *[f"{x}{k + 1}" for k in range(6) for x in ("answer", "conf")]],
        *[[f"p{i}", *[y for j in range(6) for y in (rows[i][j], sure(6 * i + j))]]
          for i in range(16)]])}, 16, 6, may=True)  # fmt: skip
    own_texts = [[f"{w} {x}" for x in ("north", "south", "east", "west")] for w in words[:6]]
    texts = [
        [own_texts[j][c] for j, c in enumerate(row)] for row in answers(16, 6, 4, 8)[0].tolist()
    ]
    asked = [f"Which {w} is the largest one?" for w in words[:6]]
    yield one("form", {"form.csv": as_csv([
        ["Timestamp", "Email Address", *asked],
        *[[when(i), f"{FIRST[i].lower()}@school.example", *texts[i]] for i in range(16)]])},
        16, 6)  # fmt: skip
    yield one("form without signs", {"form.csv": as_csv([
        ["Username", *[f"Largest {w}" for w in words[:6]]],
        *[[f"user{i}", *texts[i]] for i in range(16)]])}, 16, 6, may=True)  # fmt: skip
    yield one("two sheets", {"class.xlsx": xlsx_bytes({
        "Info": [["About this test"], ["It was written in May."], ["Ask the office."]],
        "Answers": table})}, 20, 10)  # fmt: skip
    yield one("key in a sheet", {"class.xlsx": xlsx_bytes({
        "Antworten": table, "Lösung": [table[0][1:], own]})}, 20, 10)  # fmt: skip
    out = io.BytesIO()
    pl.DataFrame([dict(zip(table[0], row, strict=True)) for row in table[1:]]).rename(
        {"id": "uid"}).write_parquet(out)  # fmt: skip
    yield one("parquet", {"class.parquet": out.getvalue()}, 20, 10)
    records = [dict(zip(["user", *table[0][1:]], row, strict=True)) for row in table[1:]]
    yield one("records", {"class.jsonl": "".join(json.dumps(r) + "\n" for r in records).encode()},
              20, 10)  # fmt: skip
    by_user = {r["user"]: {k: v for k, v in r.items() if k != "user" and v} for r in records}
    yield one("objects by user", {"answers.json": json.dumps(by_user).encode()}, 20, 10)
    yield one("lists by user", {"answers.json": json.dumps(
        [{"name": r["user"], "answers": [r[f"Q{k + 1}"] or None for k in range(10)]}
         for r in records]).encode()}, 20, 10)  # fmt: skip
    strings = ["".join(cell or " " for cell in row[1:]) for row in table[1:]]
    yield one("fixed width", {"scan.txt": "".join(
        f"S{i:03} {text}\n" for i, text in enumerate(strings)).encode()}, 20, 10)  # fmt: skip
    yield one("fixed width, key and names", {"scan.dat": "".join([
        f"{'KEY':20}{''.join(own)}\n",
        *[f"{n:20}{t.replace(' ', '-')}\n" for n, t in zip(people(20), strings, strict=True)],
        ]).encode()}, 20, 10)  # fmt: skip
    yield one("strings", {"scan.csv": as_csv([
        ["id", "responses"], *[[f"S{i}", t.replace(" ", "*")] for i, t in enumerate(strings)]])},
        20, 10)  # fmt: skip
    yield one("letter grades", sheet(
        24, ["Maths", "Physics", "Biology", "History", "French", "Art"], "Name", who=people(24),
        k=5), 24, 6, may=True)  # fmt: skip
    yield one("attendance", sheet(
        24, [f"2024-01-{d:02}" for d in range(8, 18)], "Name", who=people(24), k=2, marks="PA"),
        24, 10, may=True)  # fmt: skip
    yield one("percent options", sheet(
        24, numbered("Q", 8), "pid", marks=["10%", "25%", "50%", "75%"]), 24, 8)  # fmt: skip
    yield one("numbers as options", sheet(
        24, numbered("Q", 8), "pid", marks=["3.5", "4", "12", "100"]), 24, 8)  # fmt: skip
    yield one("odd names and a total", sheet(
        24, ["aa", "qx", "lo", "pr", "zu", "ki"], "code",
        after=[("total", integers(0, 7))]), 24, 6)  # fmt: skip

    # -- one row per answer -----------------------------------------------------------------
    yield one("raters", long(
        ["rater", "text_id", "toxic"], lambda u, i, a, _: [f"r{u}", f"t{i}", a],
        m=8, n=30, k=2, marks=["yes", "no"]), 8, 30)  # fmt: skip
    yield one("no header, tabs", long(
        None, lambda u, i, a, _: [f"item{i}", f"W{u * 37}", a], separator="\t", m=14, n=40,
        share=0.4, name="labels.tsv"), 14, 40)  # fmt: skip
    yield one("no header, times", long(
        None, lambda u, i, a, _: [f"W{u * 37}", 1000 + i, a, 1700000000 + 97 * i + 13 * u],
        m=12, n=40, share=0.5), 12, 40)  # fmt: skip
    yield one("no header, gold", long(
        None, lambda u, i, a, g: [500 + u, 9000 + 3 * i, "ABC".index(a), "ABC".index(g)],
        m=20, n=60, share=0.3), 20, 60)  # fmt: skip
    yield one("german annotation", long(
        ["Bearbeiter", "Dokument", "Kategorie", "Dauer"],
        lambda u, i, a, _: [FIRST[u], f"doc_{i}.txt", a, 3 + (u * i) % 50], m=7, n=40, share=0.6),
        7, 40)  # fmt: skip
    yield one("columns without meaning", long(
        ["c1", "c2", "c3"], lambda u, i, a, _: [f"p{u}", f"x{i}", a], m=15, n=40, share=0.5),
        15, 40)  # fmt: skip
    yield one("dump of a database", long(
        ["response_id", "quiz_id", "question_id", "student_id", "selected_option_id", "is_correct",
         "created_at"],
        lambda u, i, a, g: [7 * u + 1000 * i, 12, 40 + i, 7000 + u, 400 + 4 * i + "ABCDE".index(a),
                            int(a == g), when(u + i)], m=16, n=12, k=4), 16, 12)  # fmt: skip
    yield one("models", long(
        ["llm", "bench", "idx", "out", "ref", "ok"],
        lambda u, i, a, g: [MODELS[u], "sciq", i, a, g, a == g], m=8, n=50, k=4), 8, 50)  # fmt: skip
    yield one("images", long(
        ["image_url", "annotator", "choice", "sec"],
        lambda u, i, a, _: [f"https://img.example/{i}.png", f"ann{u}", a, 2 + (u + i) % 30],
        m=6, n=35), 6, 35)  # fmt: skip
    yield one("events", {"events.jsonl": "".join(
        json.dumps({"who": f"p{u}", "what": f"task-{i}", "said": a}) + "\n"
        for u, i, a, _ in triples(12, 30, share=0.6)).encode()}, 12, 30)  # fmt: skip
    yield one("attempts", {"log.csv": as_csv([
        ["user", "question", "attempt", "answer"],
        *[[f"u{u}", f"q{i}", t, a] for t in (1, 2) for u, i, a, _ in triples(10, 8, seed=t)]])},
        10, 8, may=True)  # fmt: skip
    chance = np.random.default_rng(4)
    yield one("ratings with decimals", long(
        ["critic", "film", "rating"],
        lambda u, i, a, _: [f"c{u}", f"f{i}", f"{chance.normal(6, 1.5):.2f}"], m=12, n=25),
        )  # fmt: skip
    yield one("leaning to yes", long(
        ["annotator", "sentence", "label"],
        lambda u, i, a, _: [f"a{u}", f"s{i}", "yes" if (3 * u + 7 * i) % 9 or a == "A" else "no"],
        m=30, n=60, k=2, share=0.2), 30, 60)  # fmt: skip
    yield one("subject and number", long(
        ["model", "subject", "number", "answer", "target"],
        lambda u, i, a, g: [MODELS[u], ("law", "art", "bio")[i % 3], i // 3, a, g],
        m=6, n=42, k=4), 6, 42)  # fmt: skip
    yield one("two decisions", long(
        ["participant", "case", "first_decision", "second_decision", "truth"],
        lambda u, i, a, g: [f"P{u}", f"c{i}", a if (u + i) % 4 else "A", a, g], m=15, n=20, k=2),
        15, 20, may=True)  # fmt: skip
    yield one("students in words", long(
        ["Surname", "Exercise", "Ticked", "Lehrer"],
        lambda u, i, a, _: [LAST[u], f"Ex. {i}", a, ("Hahn", "Lenz")[u % 2]], m=18, n=10),
        18, 10)  # fmt: skip

    # -- several files ----------------------------------------------------------------------
    yield one("file per annotator", one_user_files(6, 30, lambda i, row, _: {
        f"{FIRST[i].lower()}.csv": as_csv(
            [["item", "label"], *[[f"s{j}", a] for j, a in enumerate(row)]])}), 6, 30)  # fmt: skip
    yield one("folder per model", one_user_files(4, 25, lambda i, row, _: {
        f"{MODELS[i]}/predictions.json": json.dumps(
            {f"val_{j}": a for j, a in enumerate(row)}).encode()}), 4, 25)  # fmt: skip
    yield one("results per model", one_user_files(5, 25, lambda i, row, key: {
        f"{MODELS[i]}.json": json.dumps({"model": MODELS[i], "results": [
            {"qid": j, "pred": a, "gold": g}
            for j, (a, g) in enumerate(zip(row, key, strict=True))]}).encode()}), 5, 25)  # fmt: skip
    yield one("predictions beside gold", one_user_files(5, 40, lambda i, row, key: {
        f"runs/{MODELS[i]}/test.csv": as_csv([["question", "A", "B", "C", "D", "gold", "pred"], *[
            [f"Why {j}?", f"a{j}", f"b{j}", f"c{j}", f"d{j}", g, a]
            for j, (a, g) in enumerate(zip(row, key, strict=True))]])}), 5, 40)  # fmt: skip
    yield one("key beside the class", {
        **sheet(20, numbered("Q", 10), seed=3),
        "loesung.csv": as_csv([["Frage", "Lösung"], *[[f"Q{k + 1}", a] for k, a in enumerate(own)]]),
        }, 20, 10)  # fmt: skip
    yield one("two classes", {
        "7a.csv": sheet(10, numbered("Q", 10), seed=3, who=people(30)[:10])["class.csv"],
        "7b.csv": sheet(12, numbered("Q", 10), seed=3, who=people(30)[10:22])["class.csv"],
        }, 22, 10)  # fmt: skip

    # -- one row per item -------------------------------------------------------------------
    yield one("people in columns", turned(
        12, numbered("Q", 15), people(12), "Question", key="Correct"), 12, 15)  # fmt: skip
    yield one("models in columns", turned(
        8, [f"sciq-{j}" for j in range(30)], MODELS, "id", key="gold"), 8, 30)  # fmt: skip
    yield one("raters in columns", turned(
        4, [f"The text number {j} says so." for j in range(30)], numbered("rater_", 4), "text", k=3,
        marks=["pos", "neg", "neutral"]), 4, 30)  # fmt: skip
    yield one("items in rows, no names", {"data.csv": as_csv(
        list(zip(*letters(answers(25, 30)[0], "1234"), strict=True)))}, 25, 30, may=True)  # fmt: skip

    # -- no answers ---------------------------------------------------------------------------
    def noise(low: float, high: float, digits: int = 0) -> Callable[[int], Any]:
        found = (
            np.random.default_rng(int(abs(low) * 7 + high)).uniform(low, high, 500).round(digits)
        )
        return lambda i: found[i] if digits else int(found[i])

    def other(m: int, **columns: Callable[[int], Any]) -> Files:
        rows = [[f(i) for f in columns.values()] for i in range(m)]
        return {"table.csv": as_csv([list(columns), *rows])}

    yield one("marks", other(
        25, name=lambda i: people(25)[i], hw1=noise(0, 10), hw2=noise(1, 10), hw3=noise(2, 11),
        hw4=noise(0, 12), exam=noise(20, 100)))  # fmt: skip
    yield one("item statistics", other(
        20, item=lambda i: f"Q{i}", n=noise(90, 100), difficulty=noise(0.2, 0.9, 2),
        discrimination=noise(0, 0.6, 2)))  # fmt: skip
    votes = np.random.default_rng(6).multinomial(3, [0.2, 0.5, 0.3], size=60)
    yield one("votes per class", other(
        60, text=lambda i: f"text {i} says something", votes=lambda i: 3,
        hate=lambda i: votes[i, 0], offensive=lambda i: votes[i, 1], neither=lambda i: votes[i, 2],
        chosen=lambda i: int(votes[i].argmax())))  # fmt: skip
    yield one(
        "question bank",
        other(
            25,
            question=lambda i: f"What is {i} and {i + 3}?",
            A=lambda i: f"a{i}",
            B=lambda i: f"b{i}",
            C=lambda i: f"c{i}",
            D=lambda i: f"d{i}",
            answer=cycle(*"ABCD"),
        ),
    )
    yield one(
        "sales",
        other(
            60,
            date=lambda i: f"2024-02-{1 + i % 28:02}",
            region=cycle("north", "south", "west"),
            product=cycle("pen", "book", "lamp", "bag"),
            units=noise(1, 40),
            price=noise(2, 90, 2),
        ),
    )
    yield one("weather", other(
        50, day=lambda i: f"2024-0{1 + i // 28}-{1 + i % 28:02}", temp=noise(-5, 30, 1),
        humidity=noise(20, 99), wind=noise(0, 60)))  # fmt: skip
    yield one("contacts", other(
        25, name=lambda i: people(25)[i], email=lambda i: f"{FIRST[i]}@x.example",
        phone=lambda i: 5550000 + 37 * i, city=cycle("Oslo", "Bonn", "Lyon"),
        dept=cycle("IT", "HR", "Sales")))  # fmt: skip
    yield one("server log", other(
        60, time=when, level=cycle("INFO", "WARN", "ERROR"), host=cycle("a1", "a2", "b1"),
        message=lambda i: f"request {i} took {3 * i} ms"))  # fmt: skip
    yield one(
        "one person",
        other(20, question=lambda i: f"Q{i}", my_answer=cycle(*"ABCD"), right=cycle(*"ABDC")),
    )
    yield one("majorities", other(
        40, item=lambda i: f"t{i}", majority=cycle("pos", "neg"), agreement=noise(0.5, 1, 2),
        n=noise(3, 7)))  # fmt: skip
    yield one("sliders", sheet(
        30, numbered("s", 8), "id", k=100, marks=[str(k) for k in range(100)]),
        30, 8, may=True)  # fmt: skip
    yield one(
        "flowers",
        other(
            60,
            sepal_length=noise(4, 8, 1),
            sepal_width=noise(2, 4, 1),
            petal_length=noise(1, 7, 1),
            petal_width=noise(0, 2.5, 1),
            species=cycle("setosa", "virginica", "versicolor"),
        ),
    )
    yield one("passengers", other(
        60, PassengerId=lambda i: i + 1, Survived=cycle(0, 1), Pclass=cycle(1, 2, 3),
        Name=lambda i: f"{LAST[i % 30]}, Mr. {FIRST[(i * 7) % 30]}", Sex=cycle("male", "female"),
        Age=noise(1, 80), SibSp=cycle(0, 1, 2), Parch=cycle(0, 1), Ticket=noise(11111, 99999),
        Fare=noise(5, 90, 2), Embarked=cycle("S", "C", "Q")))  # fmt: skip
    yield one("confusion matrix", {"table.csv": as_csv([["", "cat", "dog", "fox"], *[
        [w, *np.random.default_rng(k).integers(0, 50, 3).tolist()]
        for k, w in enumerate(("cat", "dog", "fox"))]])})  # fmt: skip
    yield one("stock", other(
        40, sku=lambda i: f"SKU-{i:04}", colour=cycle("red", "blue", "green"), berlin=noise(0, 200),
        madrid=noise(0, 150), rome=noise(1, 90), reorder=cycle("yes", "no")))  # fmt: skip
    yield one("election", other(
        30, district=lambda i: f"District {i}", registered=noise(20000, 90000), red=noise(900, 9000),
        blue=noise(800, 9900), green=noise(100, 5000), turnout=noise(40, 80, 1)))  # fmt: skip
    yield one("customers", other(
        50, customer_id=lambda i: 9000 + i, gender=cycle("F", "M"), senior=cycle(0, 1),
        partner=cycle("Yes", "No"), contract=cycle("monthly", "yearly", "two years"),
        charges=noise(20, 110, 2), churn=cycle("No", "Yes", "No")))  # fmt: skip
    yield one(
        "timetable",
        other(
            12,
            hour=lambda i: f"{8 + i}:00",
            Monday=cycle("Maths", "Art", "PE"),
            Tuesday=cycle("French", "Maths", "History"),
            Friday=cycle("PE", "Physics", "Art"),
        ),
    )

    # -- more of each -------------------------------------------------------------------------
    chosen, key = answers(20, 10, 4, 11)
    rows, right = letters(chosen), letters(key)[0]
    who = people(20)
    yield one("spanish, key on top", {"notas.csv": as_csv([
        ["Apellidos", "Nombre", *numbered("P", 10), "Nota final"],
        ["CLAVE", "", *right, ""],
        *[[LAST[i], FIRST[i], *rows[i], f"{i % 10},{i % 4}"] for i in range(20)]], ";")},
        20, 10)  # fmt: skip
    yield one("russian", sheet(
        15, numbered("Вопрос ", 8), "ФИО", who=people(15), after=[("Итог", integers(1, 8))]),
        15, 8)  # fmt: skip
    yield one("japanese", sheet(
        18, numbered("問", 10), "学籍番号", who=[f"B{220 + i}" for i in range(18)],
        before=[("氏名", lambda i: LAST[i])], after=[("合計", integers(2, 10))]), 18, 10)  # fmt: skip
    yield one("hindi", sheet(14, numbered("प्रश्न ", 6), "नाम", who=people(14)), 14, 6)
    yield one("clickers", sheet(
        16, [f"Session {1 + j // 4} Q{1 + j % 4} [key: {right[j]}]" for j in range(8)],
        "Student ID", who=[8800 + i for i in range(16)]), 16, 8)  # fmt: skip
    yield one("sections above", {"test.csv": as_csv([
        ["", "Part A", "", "", "", "Part B", "", "", ""], ["Name", *numbered("Q", 8)],
        *[[who[i], *rows[i][:8]] for i in range(20)]])}, 20, 8)  # fmt: skip
    yield one("points in the names", {"quiz.csv": as_csv([
        ["First name", "Last name", "State", *[f"{j + 1}. {a} (2.00 pts)" for j, a in enumerate(asked)]],
        *[[FIRST[i], LAST[i], "Finished", *texts[i]] for i in range(16)]])}, 16, 6)  # fmt: skip
    yield one("results in words beside", {"quiz.csv": as_csv([
        ["Name", *[f"Q{j + 1}{x}" for j in range(6) for x in ("", " result")]],
        *[[who[i], *[y for j in range(6) for y in (
            rows[i][j], "Correct" if rows[i][j] == right[j] else "Incorrect")]]
          for i in range(20)]])}, 20, 6)  # fmt: skip
    yield one("remarks beside", {"quiz.csv": as_csv([
        ["Name", *[f"Q{j + 1}{x}" for j in range(6) for x in ("", " comment")]],
        *[[who[i], *[y for j in range(6) for y in (rows[i][j], f"see page {i * j}" if i % 4 else "")]]
          for i in range(20)]])}, 20, 6)  # fmt: skip
    yield one("log of clicks", {"events.csv": as_csv([
        ["ts", "session", "uid", "event", "question", "value"],
        *[[when(u + 3 * i), f"x{u}-{i // 4}", f"u{u}", event, f"q{i}", a if event == "answer" else ""]
          for u, i, a, _ in triples(12, 10) for event in ("view", "answer")]])},
        12, 10, may=True)  # fmt: skip
    yield one("ids and names of both", long(
        ["username", "mail", "qid", "question text", "their answer"],
        lambda u, i, a, _: [f"u{u}", f"u{u}@x.example", 300 + i, f"What is {i}?", a], m=12, n=8),
        12, 8)  # fmt: skip
    yield one("two labels per row", long(
        ["judge", "output", "relevant", "fluent"],
        lambda u, i, a, g: [f"j{u}", f"o{i}", a, "yes" if (u + i) % 3 else "no"], m=6, n=30, k=2,
        marks=["yes", "no"]), 6, (30, 60), may=True)  # fmt: skip
    yield one("students with responses", {"export.json": json.dumps({"course": "Bio", "students": [
        {"id": who[i], "responses": {f"q{j + 1}": a for j, a in enumerate(rows[i])}}
        for i in range(20)]}).encode()}, 20, 10)  # fmt: skip
    yield one("objects by question", {"export.json": json.dumps({
        f"q{j + 1}": {who[i]: rows[i][j] for i in range(20)} for j in range(10)}).encode()},
        20, 10, may=True)  # fmt: skip
    labels: dict[str, list[Any]] = {}
    for u, i, a, _ in triples(6, 30, share=0.7):
        labels.setdefault(f"Text {i} is here.", []).append({"annotator": f"ann-{u}", "label": a})
    yield one("annotations inside", {"data.jsonl": "".join(
        json.dumps({"text": t, "annotations": own}) + "\n" for t, own in labels.items()).encode()},
        6, 30)  # fmt: skip
    agree = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    yield one("statements", sheet(
        30, [f"I like {w}" for w in words], "Respondent", k=5, marks=agree,
        before=[("Age", integers(18, 70))]), 30, 8)  # fmt: skip
    yield one("recommendations 0 to 10", sheet(
        40, numbered("NPS_", 5), "resp_id", k=11, marks=[str(k) for k in range(11)]),
        40, 5, may=True)  # fmt: skip
    yield one("attendance with ticks", sheet(
        24, [f"{d}/03" for d in range(4, 14)], "Élève", who=people(24), k=2, marks="✓✗"),
        24, 10, may=True)  # fmt: skip
    yield one("forms with a key each", {"exam.csv": as_csv([
        ["Student", "Form", *numbered("Q", 10)], ["KEY A", "A", *right], ["KEY B", "B", *right[::-1]],
        *[[who[i], "AB"[i % 2], *rows[i]] for i in range(20)]])}, 20, 10, may=True)  # fmt: skip
    yield one("doctors in columns", turned(
        3, [f"P-{1000 + 7 * j}" for j in range(40)], ["dr_smith", "dr_jones", "dr_lee"],
        "patient_id", k=3, marks=["benign", "malignant", "unsure"]), 3, 40, may=True)  # fmt: skip
    models_chosen, models_key = answers(5, 30, 4, 12)
    yield one("models beside options", {"bench.csv": as_csv([
        ["question", "A", "B", "C", "D", "answer", *MODELS[:5]],
        *[[f"What is {j}?", f"a{j}", f"b{j}", f"c{j}", f"d{j}", "ABCD"[models_key[j]],
           *["ABCD"[c] for c in models_chosen[:, j].tolist()]] for j in range(30)]])},
        5, 30, may=True)  # fmt: skip
    yield one("right or wrong per model", sheet(
        8, [f"task_{j}" for j in range(30)], "model", who=MODELS, k=2, marks="01", blank=0.0),
        8, 30)  # fmt: skip
    yield one("ticks of one question", sheet(
        25, numbered("Q", 6), "ID", after=[
            ("Q7_pen", cycle("x", "")), ("Q7_chalk", cycle("", "x", "")), ("Q7_tablet", cycle("x", "", ""))],
        ), 25, 6, may=True)  # fmt: skip
    yield one("shifts", sheet(
        20, [f"{d} {n}" for n in (1, 2) for d in ("Mon", "Tue", "Wed", "Thu", "Fri")], "Employee",
        who=people(20), k=3, marks="FSN"), 20, 10, may=True)  # fmt: skip
    yield one("points and most points", {"marks.csv": as_csv([
        ["Name", *numbered("Aufgabe ", 6), "Summe"], ["max. Punkte", 4, 6, 8, 10, 12, 5, 45],
        *[[who[i], *(own := [noise(0, 5)(i + 7 * j) for j in range(6)]), sum(own)]
          for i in range(20)]])})  # fmt: skip
    yield one("percentages", other(
        25, Student=lambda i: people(25)[i], Quiz_1=noise(30, 100), Quiz_2=noise(20, 100),
        Midterm=noise(25, 99), Final=noise(33, 100)))  # fmt: skip
    yield one("books", other(
        40, title=lambda i: f"The {words[i % 8]} of {LAST[i % 30]}", author=lambda i: LAST[i * 7 % 30],
        year=noise(1900, 2020), genre=cycle("novel", "poetry", "science"), pages=noise(90, 800),
        rating=noise(1, 5, 1)))  # fmt: skip
    yield one("stations", other(
        25, station=lambda i: f"ST{i:03}", **{m: noise(-9 + k, 20 + k) for k, m in enumerate(
            ("Jan", "Feb", "Mar", "Apr", "May", "Jun"))}))  # fmt: skip
    yield one("one row", sheet(1, numbered("Q", 12), "Name", who=["Anna"]))
    yield one("a key alone", {"key.csv": as_csv([
        ["Question", "Key"], *[[f"Q{j + 1}", a] for j, a in enumerate(right)]])})  # fmt: skip
    yield one("payments", other(
        50, date=lambda i: f"2024-05-{1 + i % 28:02}", account=cycle("4711", "4712", "4713"),
        payee=lambda i: LAST[i * 3 % 30], category=cycle("food", "rent", "travel", "fun"),
        amount=noise(1, 900, 2), balance=noise(10, 9000, 2)))  # fmt: skip
    yield one("games", other(
        50, game=lambda i: 100 + i, white=lambda i: FIRST[i % 9], black=lambda i: FIRST[9 + i % 8],
        opening=cycle("Ruy Lopez", "French", "Sicilian"), result=cycle("1-0", "0-1", "1/2-1/2")))  # fmt: skip
    yield one("correlations", {"table.csv": as_csv([["", *words[:6]], *[
        [words[j], *[f"{1 if j == k else (j * k % 7) / 10 - 0.2:.2f}" for k in range(6)]]
        for j in range(6)]])})  # fmt: skip
    yield one("houses", other(
        60, Id=lambda i: i + 1, MSZoning=cycle("RL", "RM", "C"), Street=cycle("Pave", "Grvl"),
        LotShape=cycle("Reg", "IR1"), Bldg=cycle("1Fam", "Duplex"), Rooms=noise(3, 9),
        YearBuilt=noise(1900, 2010), SalePrice=noise(50000, 400000)))  # fmt: skip
    yield one("mushrooms", other(
        60, **{name: cycle(*values) for name, values in (
            ("class", "ep"), ("cap", "xbf"), ("colour", "nyw"), ("bruises", "tf"), ("odour", "pal"),
            ("gill", "fcu"))}))  # fmt: skip
