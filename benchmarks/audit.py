"""Errors planted in the keys of real tests, and how well the audit finds them.

    python -m benchmarks.audit [--weights] DATA [DATA …]

Each folder below DATA with answers and a key is a test; those of at most 3,000 users and 300 items
are used. In every test one key entry in 15, and in another run one in 30, is replaced by another
option that somebody chose. The keys themselves may hold errors that nobody planted, which count
against the audit. In further runs one item in 15 gets a second right answer (half of those who
were right choose another option), and the key is dealt anew among the items.

``--weights`` learns the weights of the audit's features (``methods/core/keyed.py``) from the keys
as they are, and judges every test by what the other tests say.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hitsndiffs import Responses, read_key, read_responses
from hitsndiffs.methods.core import keyed
from hitsndiffs.methods.core.known import Known
from hitsndiffs.methods.core.settings import DEFAULT
from hitsndiffs.results.audit import Audit, audit

MOST_USERS, MOST_ITEMS, SEEDS = 3_000, 300, 3
EVERY = (15, 30)
#: Tests with so many answers per item are shown apart.
MANY_ANSWERS = 100
#: Borders of the bins of what was said.
BINS = (0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01)

Test = tuple[str, str, Responses, dict[str, str]]


def tests(folders: list[Path]) -> Iterator[Test]:
    """Group, name, answers and key of every test."""
    for folder in folders:
        for test in sorted(p for p in folder.iterdir() if p.is_dir()):
            turned = (test / "answer.csv").exists()
            answers = test / ("answer.csv" if turned else "responses.csv")
            key = test / ("truth.csv" if turned else "key.csv")
            if not (answers.exists() and key.exists()):
                continue
            r = read_responses(answers, transpose=True) if turned else read_responses(answers)
            if r.n_users <= MOST_USERS and r.n_items <= MOST_ITEMS:
                yield folder.name, test.name, r, dict(read_key(key, r))


def planted(
    r: Responses, key: dict[str, str], every: int, seed: int
) -> tuple[dict[str, str], set[str]]:
    """The key with one entry in ``every`` replaced, and the items of those entries."""
    rng = np.random.default_rng(seed)
    items = {str(item): i for i, item in enumerate(r.items.tolist())}
    able = [item for item in key if np.diff(r.item_starts)[items[item]] > 1]
    wrong = rng.choice(able, min(max(round(len(key) / every), 1), len(able)), replace=False)
    changed = dict(key)
    for item in wrong.tolist():
        i = items[item]
        others = [
            str(label)
            for label in r.option_labels[r.item_starts[i] : r.item_starts[i + 1]]
            if str(label) != key[item]
        ]
        changed[item] = str(rng.choice(others))
    return changed, set(wrong.tolist())


def area(found: Any, wrong: Any) -> float:
    """Area under the curve: how often a planted error is doubted more than a right entry."""
    order = np.argsort(np.argsort(found)) + 1.0
    for value in np.unique(found):
        order[found == value] = order[found == value].mean()
    n, rest = wrong.sum(), (~wrong).sum()
    return float((order[wrong].sum() - n * (n + 1) / 2) / (n * rest)) if n and rest else np.nan


def doubled(r: Responses, key: dict[str, str], seed: int) -> tuple[Responses, set[str]]:
    """The answers when one item in 15 has two right answers, and these items."""
    rng = np.random.default_rng(seed)
    indptr, options = r.rows
    user, changed = np.repeat(np.arange(r.n_users), np.diff(indptr)), options.copy()
    sizes, places = np.diff(r.item_starts), {str(item): i for i, item in enumerate(r.items)}
    able = [item for item in key if sizes[places[item]] > 2]
    some = rng.choice(able, min(max(round(len(key) / EVERY[0]), 1), len(able)), replace=False)
    made = set()
    for item in some.tolist() if able else []:
        first, last = r.item_starts[places[item] : places[item] + 2]
        labels = [str(label) for label in r.option_labels[first:last]]
        if key[item] not in labels:
            continue
        right = first + labels.index(key[item])
        others = [option for option in range(first, last) if option != right]
        moved = (options == right) & (rng.random(len(options)) < 0.5)
        changed[moved] = rng.choice(others)
        made.add(item)
    table = np.full((r.n_users, r.n_items), None, dtype=object)
    table[user, r.option_items[changed]] = r.option_labels[changed].astype(str)
    return Responses.from_wide(table, items=r.items.tolist()), made


def dealt_anew(key: dict[str, str], seed: int) -> dict[str, str]:
    """The key of another test: the same answers, for other items."""
    answers = np.random.default_rng(seed).permutation(list(key.values()))
    return dict(zip(key, map(str, answers), strict=True))


def at_recall(found: Any, wrong: Any, recall: float) -> float:
    """The precision where so many of the planted errors are found."""
    hits = np.cumsum(wrong[np.argsort(-found, kind="stable")])
    place = int(np.searchsorted(hits, recall * hits[-1]))
    return float(hits[place] / (place + 1))


def errors(every_test: Sequence[Test]) -> None:
    """Plant errors, audit, and print how well they are found and how far its numbers hold."""
    rows: dict[tuple[str, int], list[tuple[str, float, Any, Any, Audit, bool]]] = defaultdict(list)
    for group, name, r, key in every_test:
        for every in EVERY:
            for seed in range(SEEDS):
                changed, wrong = planted(r, key, every, seed)
                found = audit(r, changed)
                doubt = found.probability_wrong
                known = ~np.isnan(doubt)
                is_wrong = np.array([str(item) in wrong for item in r.items.tolist()])[known]
                many = r.n_responses / r.n_items >= MANY_ANSWERS
                score = area(doubt[known], is_wrong)
                rows[group, every].append((name, score, doubt[known], is_wrong, found, many))
                rows["all", every].append(rows[group, every][-1])
    print("                              said > .5         precision at recall")
    print("tests  wrong    n   AUC   precision  recall        .50   .75   do not fit")
    for least in (0, MANY_ANSWERS):
        print(f"{least} answers an item and more" if least else "all")
        for (group, every), found in sorted(rows.items()):
            some = [row for row in found if row[5] or not least]
            if not some:
                continue
            p, w = (np.concatenate([row[k] for row in some]) for k in (2, 3))
            hit = p > 0.5
            mean = np.nanmean([row[1] for row in some])
            apart = sum(not row[4].fits for row in some)
            print(
                f"{group:6} 1/{every} {len({row[0] for row in some}):5}  {mean:.3f}"
                f"   {w[hit].mean() if hit.any() else np.nan:.2f}   {hit[w].mean():.2f}"
                f"          {at_recall(p, w, 0.5):.2f}  {at_recall(p, w, 0.75):.2f}   {apart}"
            )
    everything = [row for (g, _), found in rows.items() if g == "all" for row in found]
    fitting = [row for row in everything if row[4].fits]
    p, w = (np.concatenate([row[k] for row in fitting]) for k in (2, 3))
    print("\nsaid        mean  was wrong  entries   (where key and answers fit)")
    for low, high in pairwise(BINS):
        here = (p >= low) & (p < high)
        print(f"{low:.2f}–{high:.2f}   {p[here].mean():.2f}   {w[here].mean():.2f}   {here.sum()}")
    worst: dict[str, list[float]] = defaultdict(list)
    for row in everything:
        worst[row[0]].append(row[1])
    weakest = sorted(worst.items(), key=lambda pair: np.mean(pair[1]))[:6]
    print("least AUC:", ", ".join(f"{name} {np.mean(scores):.2f}" for name, scores in weakest))


def doubles(every_test: Sequence[Test]) -> None:
    """Plant second right answers, and print what is said of these items and of the others."""
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    for _, _, r, key in every_test:
        for seed in range(SEEDS):
            changed, double = doubled(r, key, seed)
            if not double:
                continue
            found = audit(changed, {item: key[item] for item in key})
            answers = changed.answers_per_item
            for i, item in enumerate(changed.items.tolist()):
                size = "100 answers and more" if answers[i] >= MANY_ANSWERS else "fewer"
                if str(item) in key:
                    kind = "two right answers" if str(item) in double else "one right answer"
                    said[size, kind].append(found.verdicts[i] or "nothing")
    print("\nverdicts")
    for (size, kind), verdicts in sorted(said.items()):
        shares = [
            f"{word} {verdicts.count(word) / len(verdicts):.3f}"
            for word in ("double", "open", "wrong", "nothing")
        ]
        print(f"{kind:18} {size:21} {len(verdicts):6} items:", *shares)


def others(every_test: Sequence[Test]) -> None:
    """Print how often it is said that key and answers do not fit each other."""
    right = [audit(r, key).fits for _, _, r, key in every_test]
    wrong = [
        audit(r, dealt_anew(key, seed)).fits for _, _, r, key in every_test for seed in range(SEEDS)
    ]
    print(f"\nkeys as they are that do not fit: {right.count(False)} of {len(right)}")
    print(f"keys dealt anew that do not fit: {wrong.count(False)} of {len(wrong)}")


def learnt(judged: Sequence[keyed.Judgement]) -> Any:
    """The weights of the features by which the keys of some tests are foreseen best."""
    w = keyed.WEIGHTS
    for _ in range(12):
        each = [slope(one, w, right=0.96) for one in judged]
        gradient, curvature = (sum(part[k] for part in each) for k in (0, 1))
        w = w + np.clip(np.linalg.solve(curvature + 1e-3 * np.eye(len(w)), gradient), -1, 1)
    return w


def slope(judged: keyed.Judgement, w: Any, *, right: float) -> tuple[Any, Any]:
    """Gradient and curvature of the entries' log probability, if entries are right so often."""
    items, given = judged.items, judged.given
    foreseen, asked = judged.foreseen(w), np.isin(items.of_option, items.of_option[given])
    others = np.maximum(items.sizes[items.of_option] - 1, 1)
    likely = np.where(asked, (1 - right) / others, 0.0)
    likely[given] = right
    key, p = items.share(foreseen * likely) * asked, foreseen * asked
    apart = judged.features - items.sum(p[:, None] * judged.features)
    return (key - p) @ judged.features, (apart * p[:, None]).T @ apart


def weights(every_test: Sequence[Test]) -> None:
    """Print the weights by all tests; and what is left if each is judged by the others' weights."""
    judged = {}
    for _, name, r, key in every_test:
        found = audit(r, key)
        known = Known.entries(found.given[found.given >= 0])
        judged[name] = keyed.judgement(found.answers, known, DEFAULT)[1]
    print("weights:", learnt(list(judged.values())).round(2))
    rng = np.random.default_rng(0)
    names = rng.permutation(list(judged)).tolist()
    p, w, scores = [], [], []
    for fold in range(6):
        apart = names[fold::6]
        keyed.WEIGHTS = learnt([one for name, one in judged.items() if name not in apart])
        for _, name, r, key in every_test:
            for every in EVERY if name in apart else ():
                for seed in range(SEEDS):
                    changed, wrong = planted(r, key, every, seed)
                    doubt = audit(r, changed).probability_wrong
                    known_here = ~np.isnan(doubt)
                    p.append(doubt[known_here])
                    w.append(np.array([str(item) in wrong for item in r.items])[known_here])
                    scores.append(area(p[-1], w[-1]))
    said, was = np.concatenate(p), np.concatenate(w)
    print(
        f"tests judged by the others: AUC {np.nanmean(scores):.3f}, precision at recall .5 "
        f"{at_recall(said, was, 0.5):.2f}"
    )


def main() -> None:
    """Plant, audit and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--weights", action="store_true")
    parser.add_argument("data", nargs="+", type=Path)
    asked = parser.parse_args()
    every_test = list(tests(asked.data))
    if asked.weights:
        weights(every_test)
        return
    start = time.process_time()
    errors(every_test)
    doubles(every_test)
    others(every_test)
    print(f"\n{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
