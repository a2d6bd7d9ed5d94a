# ruff: noqa: E501, SIM905
"""Forty more small tables, of kinds that are not among the strange ones.

They were written after the last change of the rules, each with its outcome, before any of them was
read: a measure of tables that nobody has seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from formats.quiz import xlsx_bytes
from known_files import Known
from strange_tables import (
    FIRST,
    LAST,
    MODELS,
    Files,
    answers,
    as_csv,
    cycle,
    integers,
    letters,
    long,
    numbered,
    people,
    sheet,
    triples,
    turned,
    when,
)


def wild_tables() -> Iterator[Known]:
    """Return all tables, with what reading them must give."""

    def one(
        name: str, files: Files, users: Any = None, items: Any = None, *, may: bool = False
    ) -> Known:
        fits = [None if x is None else frozenset([x] if isinstance(x, int) else x)
                for x in (users, items)]  # fmt: skip
        return Known(f"wild:{name}", None, *fits, refuse=users is None, may_refuse=may, files=files)

    chance = np.random.default_rng(77)
    chosen, key = answers(20, 12, 4, 21, blank=0.04)
    rows, right = letters(chosen), letters(key)[0]

    # -- one row per user -------------------------------------------------------------------
    yield one("driving theory", sheet(
        15, [f"1.{1 + j // 5}.{j % 5 + 1:02}-{100 + j}" for j in range(20)], "Prüfling",
        who=[f"K{700 + 3 * i}" for i in range(15)], marks=["a", "b", "c", "ab"]), 15, 20)  # fmt: skip
    yield one("seats", sheet(
        24, [f"MCQ_{j:02}" for j in range(1, 16)], "RegNo", who=[f"19/{400 + i}" for i in range(24)],
        before=[("Seat", lambda i: f"{'ABCD'[i % 4]}{i // 4}")],
        after=[("Invigilator", cycle("Mr Hill", "Ms Bay"))]), 24, 15)  # fmt: skip
    units = ["12 cm", "1.2 m", "120 mm", "0.12 km"]
    yield one("answers with units", sheet(
        20, ["length", "height", "width", "depth", "radius", "girth"], "student", marks=units), 20, 6)  # fmt: skip
    yield one(
        "before and after", sheet(20, [*numbered("pre", 8), *numbered("post", 8)], "code"), 20, 16
    )
    yield one(
        "arabic", sheet(14, [f"سؤال {j}" for j in range(1, 9)], "الاسم", who=people(14)), 14, 8
    )
    yield one("vietnamese", sheet(
        18, [f"Câu {j}" for j in range(1, 13)], "Họ tên", who=people(18),
        before=[("Lớp", cycle("10A", "10B"))], after=[("Điểm", integers(2, 12))]), 18, 12)  # fmt: skip
    yield one("polish parts of names", {"klasa.csv": "\ufeff".encode() + as_csv([
        ["Imię", "Nazwisko", *numbered("Pytanie ", 10), "Suma"],
        *[[FIRST[i], LAST[i], *rows[i][:10], i % 9] for i in range(20)]], ";")}, 20, 10)  # fmt: skip
    yield one("blank column between", {"class.csv": as_csv([
        ["id", *numbered("Q", 5), "", *[f"Q{j}" for j in range(6, 11)]],
        *[[f"s{i}", *rows[i][:5], "", *rows[i][5:10]] for i in range(20)]])}, 20, 10)  # fmt: skip
    yield one("key on top, percent below", {"class.csv": as_csv([
        ["Name", *numbered("Item", 12)], ["ANSWER KEY", *right],
        *[[people(20)[i], *rows[i]] for i in range(20)],
        ["% correct", *[f"{50 + 3 * j}%" for j in range(12)]]])}, 20, 12)  # fmt: skip
    yield one("leading zeros", sheet(
        22, [f"V{j}" for j in range(1, 11)], "SIS", who=[f"{137 * i:06}" for i in range(1, 23)]), 22, 10)  # fmt: skip
    yield one("times between", {"log.csv": as_csv([
        ["participant", *[x for j in range(6) for x in (f"q{j + 1}", f"q{j + 1}_ts")]],
        *[[f"p{i}", *[x for j in range(6) for x in (rows[i][j], when(i + j))]] for i in range(20)]])},
        20, 6)  # fmt: skip
    yield one("films", sheet(
        25, [f"The {w}" for w in "Storm Island Garden Letter Bridge Winter Clown Mirror".split()],
        "viewer", k=5, marks="12345", blank=0.4), 25, 8, may=True)  # fmt: skip
    yield one("missing is -99", {"data.csv": as_csv([
        ["idnr", *numbered("v", 10)],
        *[[500 + i, *[-99 if c < 0 else c + 1 for c in chosen[i, :10].tolist()]] for i in range(20)]])},
        20, 10)  # fmt: skip
    yield one("parliament", sheet(
        25, [f"vote_{j}" for j in range(1, 16)], "member", who=people(25), k=3,
        marks=["Yea", "Nay", "Abstain"], before=[("party", cycle("Red", "Blue"))]), 25, 15)  # fmt: skip
    yield one("model and prompt", {"runs.csv": as_csv([
        ["model", "prompt", *numbered("q", 12)],
        *[[MODELS[i // 2], ("plain", "steps")[i % 2], *rows[i]] for i in range(12)]])},
        12, 12, may=True)  # fmt: skip
    yield one("genotypes", sheet(
        30, [f"rs{1000 + 77 * j}" for j in range(12)], "sample", k=3, marks=["AA", "AG", "GG"]),
        30, 12, may=True)  # fmt: skip
    yield one("words as options", sheet(
        18, ["capital", "river", "mountain", "lake", "desert"], "Nickname", who=[f"{f}!" for f in FIRST[:18]],
        marks=["Nile", "Oslo", "Etna", "Gobi"]), 18, 5)  # fmt: skip
    yield one("tabs and quotes", {"class.tsv": ("\t".join(['"Student"', *[f'"Question {j}"' for j in range(1, 9)]])
        + "\n" + "".join("\t".join([f'"{people(20)[i]}"', *[f'"{a}"' for a in rows[i][:8]]]) + "\n"
        for i in range(20))).encode()}, 20, 8)  # fmt: skip
    yield one("marks of letters and a total in front", sheet(
        16, numbered("Ex", 9), "Élève", who=people(16), before=[("Total", integers(1, 9)), ("Rang", lambda i: i + 1)]),
        16, 9)  # fmt: skip
    yield one("panel of judges", sheet(
        9, [f"dish {j}" for j in range(1, 13)], "judge", who=FIRST[:9], k=3,
        marks=["gold", "silver", "bronze"], blank=0.0), 9, 12)  # fmt: skip

    # -- one row per answer -----------------------------------------------------------------
    yield one("language course", long(
        ["learner", "exercise", "given", "correct_form", "ms"],
        lambda u, i, a, g: [f"L{u}", f"ex{i}", a, g, 800 + 13 * u + 7 * i], m=14, n=20, k=4), 14, 20)  # fmt: skip
    yield one("readings of scans", long(
        ["reader", "patient", "finding", "certainty"],
        lambda u, i, a, _: [f"Dr {LAST[u]}", 9000 + i, a, 1 + (u * i) % 5], m=6, n=40, k=3,
        marks=["none", "cyst", "mass"]), 6, 40)  # fmt: skip
    yield one("moderation", long(
        ["post_id", "moderator", "action", "at"],
        lambda u, i, a, _: [5000 + i, f"mod{u}", a, when(u * i)], m=7, n=40, k=3,
        marks=["keep", "hide", "ban"], share=0.6), 7, 40)  # fmt: skip
    yield one("peer review", long(
        ["reviewer", "paper", "score"], lambda u, i, a, _: [f"R{u}", f"P{i}", "12345".find(a) + 1],
        m=8, n=30, k=5, marks="12345"), 8, 30, may=True)  # fmt: skip
    yield one("numbers with blanks", {"ds.txt": "".join(
        f"{i + 1} {u + 1} {'ABC'.index(a)}\n" for u, i, a, _ in triples(10, 40, 3, share=0.7)).encode()},
        10, 40)  # fmt: skip
    yield one("errors of systems", long(
        ["segment", "system", "rater", "error"],
        lambda u, i, a, _: [f"seg{i // 4}", f"sys{i % 4}", f"r{u}", a], m=5, n=40, k=3,
        marks=["none", "minor", "major"]), 5, 40)  # fmt: skip
    yield one("grades per task", long(
        ["student", "assignment", "grade"], lambda u, i, a, _: [LAST[u], f"A{i}", a], m=18, n=8, k=5),
        18, 8, may=True)  # fmt: skip
    yield one("bilingual labels", long(
        ["etiqueteur", "phrase_id", "étiquette"], lambda u, i, a, _: [FIRST[u], i, a], m=6, n=50,
        k=3, marks=["positif", "négatif", "neutre"], share=0.8), 6, 50)  # fmt: skip

    # -- one row per item -------------------------------------------------------------------
    yield one("pupils in columns, Swedish key", turned(
        12, numbered("Fråga ", 15), people(12), "Fråga", key="Rätt svar"), 12, 15)  # fmt: skip
    yield one("corner without a name", turned(14, numbered("Q", 20), people(14), ""), 14, 20)
    yield one("annotators by initials", turned(
        5, [f"utt_{j:03}" for j in range(40)], ["AB", "KM", "TS", "LW", "RD"], "utterance", k=3,
        marks=["ask", "tell", "thank"]), 5, 40)  # fmt: skip

    # -- several files ----------------------------------------------------------------------
    yield one("sheet per class", {"year7.xlsx": xlsx_bytes({
        "7a": [["Name", *numbered("Q", 10)], *[[people(20)[i], *rows[i][:10]] for i in range(10)]],
        "7b": [["Name", *numbered("Q", 10)], *[[people(20)[i], *rows[i][:10]] for i in range(10, 20)]]})},
        20, 10)  # fmt: skip
    yield one("records with a list", {"answers.json": json.dumps(
        [{"pupil": people(20)[i], "given": rows[i][:10]} for i in range(20)]).encode()}, 20, 10)  # fmt: skip

    # -- no answers -------------------------------------------------------------------------
    def table(n: int, **columns: Any) -> Files:
        return {
            "table.csv": as_csv(
                [list(columns), *[[f(i) for f in columns.values()] for i in range(n)]]
            )
        }

    def real(low: float, high: float, digits: int = 1) -> Any:
        values = chance.uniform(low, high, 200).round(digits).tolist()
        return lambda i: values[i] if digits else int(values[i])

    yield one("laboratory", table(
        30, patient=lambda i: f"P{i}", hb=real(9, 17), wbc=real(3, 12), crp=real(0, 80), na=real(130, 146, 0)))  # fmt: skip
    yield one("league", table(
        16, team=lambda i: f"FC {LAST[i]}", played=lambda i: 30, won=real(3, 20, 0), drawn=real(2, 9, 0),
        lost=real(3, 15, 0), goals=real(20, 80, 0), points=real(15, 70, 0)))  # fmt: skip
    yield one("hours", table(
        20, employee=lambda i: people(20)[i], **{d: real(0, 9) for d in ("Mon", "Tue", "Wed", "Thu", "Fri")}))  # fmt: skip
    yield one("battles", table(
        60, model_a=cycle(*MODELS[:5]), model_b=lambda i: MODELS[5 + i % 3], winner=cycle("a", "b", "tie"),
        turns=real(1, 9, 0), language=cycle("en", "de", "fr")))  # fmt: skip
    yield one("sensors", table(
        80, sensor=cycle("s1", "s2", "s3"), time=when, status=cycle("ok", "ok", "warn"), value=real(0, 99)))  # fmt: skip
    yield one("cars", table(
        50, make=cycle("Fiat", "Ford", "Seat"), fuel=cycle("gas", "diesel"), doors=cycle(2, 4),
        body=cycle("sedan", "wagon", "van"), hp=real(60, 300, 0), price=real(5000, 40000, 0)))  # fmt: skip
    yield one("staff", table(
        25, id=lambda i: 100 + i, name=lambda i: people(25)[i], team=cycle("North", "South"),
        grade=cycle("junior", "senior"), office=cycle("Bonn", "Lyon", "Oslo"), remote=cycle("yes", "no")))  # fmt: skip
