"""Blackboard, Brightspace, ZipGrade, Kahoot!, Qualtrics, Gradescope: made by our own code."""

from __future__ import annotations

import numpy as np

from formats.quiz import Made, by_item, csv_bytes, csv_text, quiz, xlsx_bytes, zip_bytes

PARTS = ("Question ID", "Question", "Answer", "Possible Points", "Auto Score", "Manual Score")


def blackboard(kind: str = "wide") -> Made:
    """UTF-16 text with tabs, named .xls (wide), or commas (long); a pool; `<Unanswered>`."""
    q = quiz(21, n_items=7)
    rng = np.random.default_rng(21)
    header = ["Username", "Last Name", "First Name"]
    rows, answers = [], {}
    n_shown = 5
    for i, p in enumerate(q.persons):
        who = [p.code, p.last, p.first]
        blocks = []
        for k in rng.permutation(7)[:n_shown]:
            text = q.answer(i, k)
            cell = f"<p>{text}</p>" if text else ("<Unanswered>" if i % 2 else "")
            points = str(q.points(i, k))
            blocks.append([f"Question ID {k + 1}", f"<b>{q.stems[k]}</b>", cell, "1", points, ""])
            if text:
                answers[p.name, q.stems[k]] = text
        if kind == "wide":
            rows.append([*who, *[cell for block in blocks for cell in block]])
        else:
            rows += [[*who, *block] for block in blocks]
    if kind == "wide":
        header += [f"{part} {n + 1}" for n in range(n_shown) for part in PARTS]
        data = csv_text([header, *rows], "\t").encode("utf-16-le")
        files = {"gc_test_results.xls": b"\xff\xfe" + data}
    else:
        files = {"results.csv": csv_bytes([[*header, *PARTS], *rows])}
    key = {}
    for k in range(7):
        given = {answers[a] for a in answers if a[1] == q.stems[k]}
        if q.key(k) in given and len(given) > 1:
            key[q.stems[k]] = q.key(k)
    return Made(files, answers, key)


D2L = [
    "Org Defined ID", "Username", "FirstName", "LastName", "Attempt #", "Attempt Start",
    "Attempt End", "Section #", "Q #", "Q Type", "Q Title", "Q Text", "Bonus?", "Difficulty",
    "Answer", "Answer Match", "Score", "Out Of",
]  # fmt: skip


def brightspace() -> Made:
    """A row per option, in an order of its own for each; a second attempt; a written answer."""
    q = quiz(22)
    rng = np.random.default_rng(22)
    rows, answers = [], by_item(q, q.stems)
    for attempt in (1, 2):
        for i, p in enumerate(q.persons[: 12 if attempt == 1 else 2]):
            lead = [f"org-{p.code}", p.code, p.first, p.last, attempt, "2/18/2023 9:11"]
            lead += ["2/18/2023 9:24", ""]
            for n, k in enumerate(rng.permutation(6)):
                chosen = int(q.chosen[i, k]) if attempt == 1 else (int(q.chosen[i, k]) + 1) % 4
                for j in rng.permutation(4):
                    mark = "Checked" if j == chosen else "UnChecked"
                    score = 4 if chosen == q.right[k] else 0
                    about = [n + 1, "MC", "", q.stems[k], "FALSE", 1]
                    rows.append([*lead, *about, q.options[k][j], mark, score, 4])
            rows.append([*lead, 7, "WR", "", "Write something", "FALSE", 1, f"My {i}", "", "", 5])
    key = {}
    for k in range(6):
        given = {answers[a] for a in answers if a[1] == q.stems[k]}
        if q.key(k) in given and len(given) > 1:
            key[q.stems[k]] = q.key(k)
    return Made({"attempts.csv": csv_bytes([D2L, *rows])}, answers, key, left_out=("WR", "attempt"))


def brightspace_survey() -> Made:
    """Individual attempts of a survey: a line «User n» opens each person."""
    q = quiz(23, blank=0.0)
    header = [
        "Section #", "Q #", "Q Type", "Q Title", "Q Text", "Answer", "Answer Match", "# Responses",
    ]  # fmt: skip
    rows: list[list[object]] = []
    for i in range(12):
        rows.append([f"User {i + 1}", *[""] * 7])
        for k in range(6):
            for j in range(4):
                mark = "Checked" if j == q.right[k] else "Unchecked"
                counted = int(j == q.chosen[i, k])
                rows.append(["", k + 1, "MC", "", q.stems[k], q.options[k][j], mark, counted])
    persons = [f"User {i + 1}" for i in range(12)]
    key = {q.stems[k]: q.key(k) for k in range(6)}
    return Made({"survey.csv": csv_bytes([header, *rows])}, by_item(q, q.stems, persons), key)


def brightspace_counts() -> Made:
    header = ["Section #", "Q #", "Q Type", "Q Title", "Q Text", "Bonus?", "Difficulty", "Answer"]
    header += ["Answer Match", "# Responses", "Average Score", "Out Of "]
    rows = [
        ["", k, "MC", "'", f"Question {k}", "False", 1, f"Option {j}", "UnChecked", 3 * j, 2, 4]
        for k in range(5)
        for j in range(4)
    ]
    return Made({"details.csv": csv_bytes([header, *rows])}, refused="counts per option")


def zipgrade(kind: str = "web") -> Made:
    """Two versions with different keys; places without a key; several marks."""
    q = quiz(24, n_items=6, blank=0.05)
    web = kind == "web"
    header = ["QuizName", "QuizClass", "FirstName", "LastName"]
    header += ["StudentID", "CustomID"] if web else ["ZipGradeID", "ExternalID"]
    header += ["Earned Points", "Possible Points"] if web else ["EarnedPts", "PossiblePts"]
    header += [
        "PercentCorrect",
        "QuizCreated",
        "DataExported",
        "Key Version" if web else "KeyVersion",
    ]
    slots = 6 if web else 50
    for n in range(1, slots + 1):
        names = ("Stu", "PriKey", "Points", "Mark") if web else ("Stu", "Key", "EarnedPt", "PossPt")
        header += [f"{name}{n}" for name in names]
    rows, answers, key = [], {}, {}
    for i, p in enumerate(q.persons):
        version = 1 + i % 2 if web else 1
        row = ["Unit 4", "2nd", p.first, p.last, p.code, "", 3, 6, 50, "10/8/2019 0:00"]
        row += ["10/10/2019 15:23", version]
        for k in range(slots):
            if k >= 6:
                row += ["", "", 0, 0]
                continue
            right = q.key_letter(k) if version == 1 else "ABCD"[(q.right[k] + 1) % 4]
            marks = q.letter(i, k)
            if web and k == 5:
                right, marks = "BD", "BD" if marks == "A" else marks
            row += [
                marks,
                right,
                int(marks == right),
                ("C" if marks == right else "X") if web else 1,
            ]
            item = f"{k + 1} (version {version})" if web else str(k + 1)
            key[item] = tuple(right) if len(right) > 1 else right
            if marks:
                answers[p.name, item] = tuple(marks) if len(marks) > 1 else marks
        rows.append(row)
    return Made({"quiz.csv": csv_bytes([header, *rows])}, answers, key)


def zipgrade_double_marks() -> Made:
    """Two marks where every key is one letter: they cannot be read."""
    made = zipgrade("phone")
    text = made.files["quiz.csv"].decode().splitlines()
    cells = text[1].split(",")
    cells[12] = "AB"
    made.answers.pop(("Ada Ash", "1"), None)
    text[1] = ",".join(cells)
    return Made({"quiz.csv": "\r\n".join(text).encode()}, made.answers, made.key)


def kahoot() -> Made:
    """The raw data of a game: an option with a comma, entities, two right answers."""
    q = quiz(25, blank=0.05)
    header = ["Question Number", "Question", "Answer 1", "Answer 2", "Answer 3", "Answer 4"]
    header += ["Correct Answers", "Time Allotted to Answer (seconds)", "Player", "Answer"]
    header += ["Correct / Incorrect", "Correct", "Incorrect", "Score (points)"]
    rows, answers, key = [], {}, {}
    for k in range(6):
        options = [f"{o}, dark" if k == 1 else o for o in q.options[k]]
        right = [options[q.right[k]]]
        if k == 2:
            right.append(options[(q.right[k] + 1) % 4])
        stem = q.stems[k].replace(" ", "&nbsp;", 1)
        if len(right) == 1:  # one of two right answers is enough, so there is no single key
            key[q.stems[k]] = right[0]
        for i, p in enumerate(q.persons):
            text = options[q.chosen[i, k]] if q.chosen[i, k] >= 0 else ""
            mark = "Correct" if text in right else "Incorrect"
            rows.append(
                [k + 1, stem, *options, ", ".join(right), 20, p.first, text, mark, 1, 0, 733 + i]
            )
            if text:
                answers[p.first, q.stems[k]] = text
    sheets = {
        "Overview": [["Quiz"], ["Played on", "3 May"]],
        "Final Scores": [["Quiz"], [], ["Rank", "Player", "Total Score (points)"]],
        "RawReportData Data": [header, *rows],
    }
    return Made({"report.xlsx": xlsx_bytes(sheets)}, answers, key)


def qualtrics(year: int = 2022) -> Made:
    """Three header rows; a preview; embedded data; a question with a column per option; -99."""
    q = quiz(26, blank=0.0)
    lead = ["StartDate", "EndDate", "Status", "Finished", "ResponseId"]
    names = [f"Q{k + 1}" for k in range(6)]
    header = [*lead, *names, "Q7_1", "Q7_2", "Q7_3", "Q3_4_TEXT", "Q_First Click", "SC0", "age"]
    texts = [
        *lead, *q.stems, *["Tick - a", "Tick - b", "Tick - c"], "Other", "Timing", "Score", "age",
    ]  # fmt: skip
    codes = [
        "startDate", "endDate", "status", "finished", "_recordId" if year > 2016 else "responseId",
    ]  # fmt: skip
    codes += [f"QID{k + 1}" for k in range(6)] + ["QID7_1", "QID7_2", "QID7_3", "QID3_4_TEXT"]
    codes += ["QID9_FIRST_CLICK", "SC_1", "age"]
    mark = "'" if year == 2016 else '"'
    third = ["{" + f"{mark}ImportId{mark}: {mark}{code}{mark}" + "}" for code in codes]
    rows, answers = [], {}
    for i in range(13):
        preview = i == 12
        j = i % 12
        row = [
            "2022-05-01 11:00",
            "2022-05-01 11:10",
            "Survey Preview" if preview else "IP Address",
        ]
        row += ["True", f"R_{i:05}"]
        cells = [q.answer(j, k) for k in range(6)]
        if i == 4:
            cells[2] = "-99"
        ticked = [t if (j + n) % 3 else "" for n, t in enumerate(("a", "b", "c"))]
        rows.append([*row, *cells, *ticked, f"words {i}", "1.5", "7", str(20 + i)])
        if preview:
            continue
        for k in range(6):
            if cells[k] != "-99":
                answers[f"R_{i:05}", names[k]] = cells[k]
        answers[f"R_{i:05}", "Q7"] = tuple(filter(None, ticked))
    return Made(
        {"survey.csv": csv_bytes([header, texts, third, *rows])}, answers, left_out=("preview",)
    )


def qualtrics_old() -> Made:
    """V1 … V10 and two header rows."""
    q = quiz(27, blank=0.0)
    about = [
        "ResponseID", "ResponseSet", "Name", "ExternalDataReference", "EmailAddress", "IPAddress",
    ]  # fmt: skip
    about += ["Status", "StartDate", "EndDate", "Finished"]
    names = [f"Q{k + 1}" for k in range(6)]
    header = [*[f"V{k + 1}" for k in range(10)], *names, "Q6_TEXT", "LocationLatitude"]
    texts = [*about, *q.stems, "Other", "LocationLatitude"]
    rows = [
        [f"R_{i}", "Default", "", "", "", "", "0", "2013-01-01 10:00", "2013-01-01 10:05", "1"]
        + [q.answer(i, k) for k in range(6)]
        + [f"text {i}", "42.4"]
        for i in range(12)
    ]
    persons = [f"R_{i}" for i in range(12)]
    return Made({"old.csv": csv_bytes([header, texts, *rows])}, by_item(q, names, persons))


def gradescope() -> Made:
    """A zip with a table per question: rubric items, and three lines below that are no persons."""
    q = quiz(28, blank=0.0)
    lead = ["Assignment Submission ID", "Question Submission ID", "First Name", "Last Name", "SID"]
    lead += ["Email", "Sections", "Score", "Submission Time"]
    members, answers = {}, {}
    for k in range(6):
        header = [*lead, *q.options[k], "Adjustment", "Comments", "Grader", "Tags"]
        rows = []
        for i, p in enumerate(q.persons):
            ticks = ["true" if j == q.chosen[i, k] else "false" for j in range(4)]
            who = [
                f"{i}", f"{k}{i}", p.first, p.last, p.code, p.mail, "A", q.points(i, k),
                "2026-01-01",
            ]  # fmt: skip
            rows.append([*who, *ticks, "", "", "grader", ""])
            answers[p.name, f"Q{k + 1} Colours"] = q.answer(i, k)
        below = [
            [*[""] * 8, "Point Values", "1", "0", "0", "0"],
            [*[""] * 8, "Rubric Numbers", "1", "2", "3", "4"],
            [*[""] * 8, "Scoring Method", "positive"],
        ]
        members[f"{7100 + k}_Q{k + 1}_Colours.csv"] = csv_bytes([header, *rows, *below])
    key = {}
    for k in range(6):
        given = {q.answer(i, k) for i in range(12)}
        if len(given) > 1:
            key[f"Q{k + 1} Colours"] = q.key(k)
    return Made(
        {"evaluations.zip": zip_bytes(members)}, answers, key, left_out=("below the table",)
    )


def survey_monkey() -> Made:
    """Two rows of names: a question may have a column per option; a grid; one's own words."""
    q = quiz(37, n_items=5)
    lead = ["Respondent ID", "Collector ID", "Start Date", "End Date", "IP Address", "First Name"]
    header = [*lead, *q.stems[:3], "What do you own?", "", "", "How is it?", "", "Comments?"]
    below = [""] * 6 + ["Response"] * 3 + ["car", "boat", "Other (please specify)"]
    below += ["fast", "cheap", "Open-Ended Response"]
    rows, answers = [], {}
    for i, p in enumerate(q.persons):
        who = [p.code, "77", "01/02/2026 10:00:00", "01/02/2026 10:09:00", "10.0.0.1", ""]
        owns = [name if (i >> j) & 1 else "" for j, name in enumerate(("car", "boat"))]
        grid = [q.answer(i, 3), q.answer(i, 4)]
        told = ["", "", f"my words {i}"] if i % 3 else ["", "", ""]
        rows.append([*who, *[q.answer(i, k) for k in range(3)], *owns, told[0], *grid, told[2]])
        answers |= {(p.code, q.stems[k]): q.answer(i, k) for k in range(3) if q.answer(i, k)}
        if any(owns):
            answers[p.code, "What do you own?"] = tuple(filter(None, owns))
        for name, text in zip(("fast", "cheap"), grid, strict=True):
            if text:
                answers[p.code, f"How is it? - {name}"] = text
    return Made({"survey.csv": csv_bytes([header, below, *rows])}, answers)


def zipgrade_summary() -> Made:
    header = ["QuizName", "QuizClass", "FirstName", "LastName", "StudentID", "PercentCorrect"]
    rows = [["Unit 4", "2nd", f"P{i}", "Ash", 100 + i, 60.5 + i] for i in range(5)]
    return Made({"zipgrade.csv": csv_bytes([header, *rows])}, refused="scores without the answers")


GRADEBOOKS = {
    "canvas": ["Quiz 1 (100234)", "Midterm (100235)"],
    "blackboard": ["Quiz 1 [Total Pts: 10 Score] |5521", "Midterm [Total Pts: 50 Score] |5522"],
    "brightspace": ["Quiz 1 Points Grade <Numeric MaxPoints:10>", "End-of-Line Indicator"],
    "moodle": ["Quiz: Rivers (Real)", "Assignment: Essay (Real)"],
}


def gradebook(platform: str) -> Made:
    """The points of whole tests."""
    header = ["Student", "ID", *GRADEBOOKS[platform]]
    rows = [["    Points Possible", "", 10, 50]] if platform == "canvas" else []
    rows += [[f"Ash, P{i}", 100 + i, 3 + i % 4, 20 + i * 3 % 7] for i in range(8)]
    return Made({"grades.csv": csv_bytes([header, *rows])}, refused="a gradebook")


def gradescope_scores() -> Made:
    header = [
        "First Name", "Last Name", "SID", "Total Score", "1: Colours (2.0 pts)",
        "2: Things (1.0 pts)",
    ]  # fmt: skip
    rows = [["Ada", "Ash", "1", "3", "2.0", "1.0"], ["Bob", "Birk", "2", "1", "1.0", "0.0"]]
    return Made({"scores.csv": csv_bytes([header, *rows])}, refused="points per question")


def nops(versions: bool = False) -> Made:
    """R/exams: a 0 or 1 per option, leading zeros, semicolons; exams with other keys."""
    q = quiz(29, n_options=5)
    header = ["registration", "name", "id", "exam", "scrambling", "scan", "points", "mark"]
    for k in range(1, 7):
        header += [f"answer.{k}", f"solution.{k}", f"check.{k}", f"points.{k}"]
    rows, answers, key = [], {}, {}
    for i, p in enumerate(q.persons):
        exam = f"2506050000{1 + i % 2 * versions}"
        row = [f"0{p.code}", p.name, f"id{p.code}", exam, "00", "scan.png", "3", "2.0"]
        for k in range(6):
            right = (q.right[k] + (i % 2 * versions)) % 5
            bits = [
                "".join(str(int(j == one)) for j in range(5)) for one in (q.chosen[i, k], right)
            ]
            row += [*bits, str(int(bits[0] == bits[1])), "1.0"]
            item = f"{k + 1} (version {exam})" if versions else str(k + 1)
            key[item] = "ABCDE"[right]
            if q.chosen[i, k] >= 0:
                answers[f"0{p.code}", item] = q.letter(i, k)
        rows.append(row)
    text = "\n".join(";".join(row) for row in [header, *rows])
    return Made({"nops_eval.csv": text.encode()}, answers, key)


def question_blocks() -> Made:
    """A tool that nobody knows: Q1 Answer, Q1 Key, Q1 Points, Q2 Answer, …."""
    q = quiz(30)
    header = ["Student ID"]
    for k in range(1, 7):
        header += [f"Q{k} Answer", f"Q{k} Key", f"Q{k} Points"]
    rows = [
        [p.code, *[c for k in range(6) for c in (q.answer(i, k), q.key(k), q.points(i, k))]]
        for i, p in enumerate(q.persons)
    ]
    names, persons = [str(k + 1) for k in range(6)], [p.code for p in q.persons]
    key = {names[k]: q.key(k) for k in range(6)}
    return Made({"export.csv": csv_bytes([header, *rows])}, by_item(q, names, persons), key)


def scanned_forms() -> Made:
    """A line of the scanner, a lot number that all share, and a serial number, then the form."""
    q = quiz(31, n_items=10)
    names = [*[f"A{k + 1}" for k in range(5)], *[f"B{k + 1}" for k in range(5)]]
    rows = [["NCS Header", "AgencyID", "ID", "Age", *names, "OtherText", "SerialCode"]]
    codes = [str(4900 + 3 * i) for i in range(12)]
    for i, code in enumerate(codes):
        lead = [f"5420000{i + 1:02}001062121001YY", "SCHOOL", "40-M-0-42", 8 + i % 3]
        marks = [str(q.chosen[i, k]) if q.chosen[i, k] >= 0 else "" for k in range(10)]
        rows.append([*lead, *marks, "", code])
    answers = {
        (codes[i], names[k]): str(q.chosen[i, k])
        for i in range(12)
        for k in range(10)
        if q.chosen[i, k] >= 0
    }
    return Made({"batch.xlsx": xlsx_bytes({"Sheet1": rows})}, answers)


def survey_monkey_one_row() -> Made:
    """Someone took the second row of names out; the audience comes with five columns."""
    q = quiz(32)
    rows = [["RespondentID", *q.stems, "Gender", "Age", "Household Income"]]
    codes = [str(3292950000 + 7 * i) for i in range(12)]
    for i, code in enumerate(codes):
        own = [q.answer(i, k) for k in range(6)]
        rows.append([code, *own, ("Male", "Female")[i % 2], "30-44", "$50,000 - $99,999"])
    return Made({"survey.csv": csv_bytes(rows)}, by_item(q, q.stems, codes))


def survey_monkey_ticks() -> Made:
    """No collector; options by the dozen, so that hardly any two tick the same."""
    q = quiz(33, blank=0.0)
    films = [f"Film {c}" for c in "ABCDEF"]
    codes = [str(3292950000 + 7 * i) for i in range(12)]
    ask = "Which films have you seen?"
    rows = [["RespondentID", *q.stems, ask, *[""] * 5], ["", *["Response"] * 6, *films]]
    answers = by_item(q, q.stems, codes)
    for i, code in enumerate(codes):
        seen = [film if (5 * i + 3) >> k & 1 or k == i % 6 else "" for k, film in enumerate(films)]
        rows.append([code, *[q.answer(i, k) for k in range(6)], *seen])
        for film, own in zip(films, seen, strict=True):
            answers[code, f"{ask} - {film}"] = film if own else "no"
    return Made({"films.csv": csv_bytes(rows)}, answers)


def limesurvey(kind: str = "codes") -> Made:
    """Codes and option codes, or whole questions; ticks as Y, free text, times."""
    q = quiz(34)
    lead = {
        "codes": ["id", "submitdate", "lastpage", "startlanguage", "seed", "startdate"],
        "words": [
            "Response ID",
            "Date submitted",
            "Last page",
            "Start language",
            "Seed",
            "Date started",
        ],
    }[kind]
    names = [f"G01Q{k + 1:02}" if kind == "codes" else q.stems[k] for k in range(6)]
    tool = "TOOLS" if kind == "codes" else "What do you use?"
    parts = ["SQ001", "SQ002"] if kind == "codes" else ["Pen", "Chalk"]
    yes, no = ("Y", "") if kind == "codes" else ("Yes", "No")
    why = f"{tool}[other]"
    rows = [[*lead, *names, *[f"{tool}[{p}]" for p in parts], why, "WHY", "interviewtime"]]
    persons = [str(3 * i + 2) for i in range(12)]
    answers = by_item(q, names, persons)
    for i, person in enumerate(persons):
        when = f"2026-02-01 10:{i:02}:17"
        ticked = [p for k, p in enumerate(parts) if (i >> k) & 1]
        own = [q.answer(i, k) for k in range(6)]
        ticks = [yes if p in ticked else no for p in parts]
        rows.append(
            [
                person,
                when,
                3,
                "en",
                17 * i,
                when,
                *own,
                *ticks,
                "",
                f"For reason {i}, that is why",
                61.5 + i,
            ]
        )
        if ticked:
            answers[person, tool] = tuple(ticked)
    return Made({"results.csv": csv_bytes(rows, quote_all=True)}, answers)


def otree(kind: str = "wide") -> Made:
    """Fields of the players by app and round; what oTree notes itself; what was asked once."""
    q = quiz(35, blank=0.0)
    codes = [f"k{i:02}x7" for i in range(12)]
    lead = ["participant.id_in_session", "participant.code", "participant.label"]
    lead += ["participant._is_bot", "participant.payoff", "session.code"]
    own = ["id_in_group", "role", "payoff", "age", "group_arm", "answer"]
    answers = {
        (codes[i], f"quiz.{k + 1}.answer"): q.answer(i, k) for i in range(12) for k in range(6)
    }
    if kind == "wide":
        rows = [[*lead, *[f"quiz.{k + 1}.player.{f}" for k in range(6) for f in own]]]
        for i, code in enumerate(codes):
            row = [i + 1, code, "", 0, 2.5, "s7"]
            for k in range(6):
                row += [1, "", 0.0, 20 + i % 4 if k == 0 else "", "AB"[i % 2], q.answer(i, k)]
            rows.append(row)
        return Made({"all_apps_wide.csv": csv_bytes(rows)}, answers)
    rows = [
        [*lead, *[f"player.{f}" for f in own], "group.id_in_subsession", "subsession.round_number"]
    ]
    for k in range(6):
        for i, code in enumerate(codes):
            about = [i + 1, code, "", 0, 2.5, "s7", 1, "", 0.0, 20 + i % 4, ""]
            rows.append([*about, q.answer(i, k), 1, k + 1])
    answers = {(codes[i], str(k + 1)): q.answer(i, k) for i in range(12) for k in range(6)}
    return Made({"quiz.csv": csv_bytes(rows)}, answers)
