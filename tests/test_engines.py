"""The contract of the engines: every one, in every layout, against the dense oracle."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import naive
import numpy as np
import pytest
from engine_cases import (
    ENGINES,
    KINDS,
    bent,
    bent_with_sums,
    check_against_oracle,
    sheets,
    threaded,
)
from factory import examples, make_responses, random_table, seeds
from hypothesis import given
from hypothesis import strategies as st
from strict_engine import StrictEngine

from hitsndiffs.data.items import Items
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine, scaled
from hitsndiffs.engines.base import Engine, option_words
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.engines.threads import build_layout
from hitsndiffs.errors import InputError


@st.composite
def responses(draw):
    """Small data of every kind: gaps, uneven options, rare options, users without answers."""
    users, items = draw(st.integers(1, 40)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = np.array(draw(st.lists(st.sampled_from([1, 2, 3, 5, 40]), min_size=items,
                                     max_size=items)))  # fmt: skip
    table = random_table(
        rng, users, items, options, missing=draw(st.sampled_from([0.0, 0.1, 0.6])), graded=False
    )
    table[0] = np.maximum(table[0], 0)  # somebody answered
    if users > 2 and draw(st.booleans()):
        table[1] = -1  # a user without answers
        table[2, 0] = 99  # an option chosen once
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    return make_responses(table, sparse=draw(st.booleans()), dtype=dtype)


@pytest.mark.parametrize("engine", ENGINES)
@examples(40)
@given(data=responses())
def test_every_engine_gives_the_dense_sums(engine, data):
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dense", [True, False])
def test_items_with_more_options_than_a_byte_tells_apart(engine, dense):
    rng = np.random.default_rng(3)
    table = random_table(rng, 900, 6, 3, missing=0.2, graded=False)
    table[:, 2] = rng.permutation(900) % 300  # 300 options, complete
    table[:, 4] = np.where(rng.random(900) < 0.3, -1, rng.permutation(900))  # about 630, gaps
    table[:256, 5], table[256:, 5] = np.arange(256), 0  # 256 options, complete: one full byte
    data = make_responses(table, sparse=not dense, dtype=np.uint16)
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
def test_255_and_256_codes_fill_a_byte(engine):
    table = np.full((600, 3), -1)
    table[:255, 0] = np.arange(255)  # 255 options and gaps: 256 codes
    table[:256, 1] = np.arange(256)  # 256 options and gaps: 257 codes
    table[:, 2] = np.arange(600) % 254
    data = make_responses(table, dtype=np.uint16)
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_many_blocks_and_chunks(engine, missing):
    """More users than one block or chunk holds, and a last block that is not full."""
    rng = np.random.default_rng(4)
    data = make_responses(random_table(rng, 9_001, 11, 4, missing=missing, graded=False))
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dense", [True, False])
def test_users_who_answered_nothing_at_all(engine, dense):
    data = make_responses(np.full((3, 2), -1), sparse=not dense)
    sums = ENGINES[engine](data)
    assert sums.choices(np.ones(0)).tolist() == [0.0, 0.0, 0.0]
    assert sums.choosers(np.ones(3)).tolist() == []
    assert sums.through(np.ones((0, 2)), scaled, np.ones(3)).shape == (0, 2)


def test_transposed_codes_are_taken_as_they_are():
    rng = np.random.default_rng(5)
    data = make_responses(random_table(rng, 5_000, 9, 3, missing=0.1, graded=False))
    turned = Responses(
        users=data.users,
        items=data.items,
        option_labels=data.option_labels,
        item_starts=data.item_starts,
        codes=np.asfortranarray(data.codes),
    )
    weights = rng.standard_normal(data.n_options)
    expected = ENGINES["packed-2"](data).choices(weights)
    np.testing.assert_array_equal(ENGINES["packed-2"](turned).choices(weights), expected)


@pytest.mark.parametrize("layout", ["packed", "sparse"])
def test_the_number_of_threads_does_not_change_a_bit(layout):
    rng = np.random.default_rng(6)
    data = make_responses(random_table(rng, 30_011, 23, 3, missing=0.2, graded=False))
    weights, scale = rng.standard_normal((data.n_options, 2)), rng.random(data.n_users)
    scores = rng.standard_normal(data.n_users)
    results = []
    for threads in (1, 2, 5):
        sums = threaded(layout, threads)(data)
        results.append(
            (
                sums.choices(weights),
                sums.choosers(scores),
                sums.through(weights, scaled, scale),
                sums.choices(weights, bent, scores, scale),
                *sums.through(weights, bent_with_sums, scores, scale),
                sums.fingerprints(),
            )
        )
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_block_of_vectors_is_its_columns(engine):
    rng = np.random.default_rng(7)
    data = make_responses(random_table(rng, 5_000, 12, 4, missing=0.1, graded=False))
    sums = ENGINES[engine](data)
    weights, scale = rng.standard_normal((data.n_options, 21)), rng.random(data.n_users)
    scores = np.asfortranarray(rng.standard_normal((data.n_users, 21)))
    for column in (0, 20):
        for block, single in (
            (sums.choices(weights), sums.choices(weights[:, column])),
            (sums.choosers(scores), sums.choosers(scores[:, column])),
            (sums.through(weights, scaled, scale), sums.through(weights[:, column], scaled, scale)),
        ):
            assert single.ndim == 1
            np.testing.assert_allclose(block[:, column], single, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("columns", [0, 1, 2, 8, 30])
@pytest.mark.parametrize("options", [2, 3, 9])
def test_full_and_thin_tables_pass_alike(options, columns):
    rng = np.random.default_rng(options)
    r = make_responses(rng.integers(0, options, size=(20, 15)))
    engine = open_engine(r, "numpy")
    dense = np.zeros((20, r.n_options))
    for user in range(20):
        dense[user, r.ones.indices[slice(*r.ones.indptr[user : user + 2])]] = 1.0
    weights, added = rng.normal(size=(r.n_options, columns)), rng.normal(size=(20, 9))

    def step(sums, more):
        return np.hstack([np.tanh(sums), more]), more.sum(axis=0)

    found, side = engine.through(weights, step, added)
    expected, _ = step(dense @ weights, added)
    np.testing.assert_allclose(found, dense.T @ expected, atol=1e-12)
    np.testing.assert_array_equal(side, added.sum(axis=0))


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("sizes", [[2, 2, 2], [1, 3, 2, 1], [1], [40, 2], [4] * 6])
def test_sums_within_items(sizes, columns):
    starts = np.concatenate([[0], np.cumsum(sizes)])
    items = Items(np.arange(len(sizes)), np.arange(starts[-1]), starts)
    x = np.random.default_rng(0).normal(size=(starts[-1], columns))
    kept = x.copy()
    expected = [x[first:last].sum(axis=0) for first, last in pairwise(starts)]
    np.testing.assert_allclose(items.total(x), expected, atol=1e-12)
    np.testing.assert_allclose(items.sum(x), np.repeat(expected, sizes, axis=0), atol=1e-12)
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize("engine", ENGINES)
def test_arguments_and_data_are_left_alone(engine):
    rng = np.random.default_rng(9)
    data = make_responses(random_table(rng, 50, 6, 3, missing=0.1, graded=False))
    arguments = [rng.random(data.n_options), rng.random(data.n_users)]
    copies = [argument.copy() for argument in arguments]
    for argument in arguments:
        argument.flags.writeable = False
    codes = data.codes.copy()
    weights, scores = arguments
    sums = ENGINES[engine](data)
    first = sums.choices(weights)
    kept = first.copy()
    sums.choosers(scores), sums.through(weights, scaled, scores)
    sums.choices(2 * weights)
    np.testing.assert_array_equal(first, kept)  # no result is a buffer that is used again
    np.testing.assert_array_equal(data.codes, codes)
    for argument, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(argument, copy)


# -- parts of the data -----------------------------------------------------------------------


@pytest.mark.parametrize("engine", KINDS)
@examples(25)
@given(data=responses(), seed=seeds, keep=st.booleans())
def test_some_users_in_any_order(engine, data, seed, keep):
    rng = np.random.default_rng(seed)
    users = rng.permutation(data.n_users)[: rng.integers(1, data.n_users + 1)]
    part, options = KINDS[engine](data).subset(users, keep_options=keep)
    matrix = naive.one_hot(data)[users]
    left = np.arange(data.n_options) if keep else np.flatnonzero(matrix.any(axis=0))
    np.testing.assert_array_equal(options, left)
    np.testing.assert_array_equal(sheets(part.rows(), len(left)), matrix[:, left])
    check_items(part.items, data, left)
    np.testing.assert_array_equal(part.user_labels(np.arange(len(users))), data.users[users])
    for place, user in enumerate(users):
        assert part.user_number(data.users[user]) == place
    assert part.user_number("nobody") is None


@pytest.mark.parametrize("engine", KINDS)
def test_a_part_of_a_part_that_kept_its_options(engine):
    data = make_responses([[2, 0], [0, 0], [0, 1], [1, 1], [1, 0]])
    four, _ = KINDS[engine](data).subset(np.arange(1, 5), keep_options=True)
    two, options = four.subset(np.array([1, 2]))
    assert options.tolist() == np.flatnonzero(naive.one_hot(data)[[2, 3]].any(axis=0)).tolist()
    np.testing.assert_array_equal(
        sheets(two.rows(), len(options)),
        sheets(four.rows(np.array([1, 2])), four.n_options)[:, options],
    )


def check_items(items, data, options):
    """Items and options are those of the data, as far as they are left."""
    np.testing.assert_array_equal(items.option_labels, data.option_labels[options])
    np.testing.assert_array_equal(
        items.labels[items.of_option], data.items[data.option_items[options]]
    )
    assert len(set(items.labels.tolist())) == items.n_items == len(np.unique(items.of_option))


@pytest.mark.parametrize("engine", KINDS)
@pytest.mark.parametrize("linked_by", ["options", "items"])
@examples(25)
@given(data=responses())
def test_components_are_those_of_the_first_engine(engine, linked_by, data):
    found = KINDS[engine](data).components(linked_by)
    np.testing.assert_array_equal(found, KINDS["numpy"](data).components(linked_by))


# -- fingerprints ----------------------------------------------------------------------------


@examples(40)
@given(data=responses(), seed=seeds)
def test_equal_sheets_have_equal_fingerprints_on_every_engine(data, seed):
    """Whatever the answers are packed with, in parts of the users and under any words."""
    words = option_words(data.n_options, seed=seed % 1000)
    expected = [sum(int(w) for w in words[row > 0]) % 2**64 for row in naive.one_hot(data)]
    sheets = naive.one_hot(data)
    for engine in KINDS.values():
        opened = engine(data)
        assert opened.fingerprints(words).tolist() == expected
        own = opened.fingerprints()
        assert own.dtype == np.uint64
        same_numbers = own[:, None] == own[None, :]
        np.testing.assert_array_equal(
            same_numbers, (sheets[:, None] == sheets[None, :]).all(axis=2)
        )
        np.testing.assert_array_equal(own, KINDS["numpy"](data).fingerprints())
        some = np.arange(0, data.n_users, 2)
        part, _ = opened.subset(some, keep_options=True)
        np.testing.assert_array_equal(part.fingerprints(), own[some])


def test_a_fingerprint_leaves_out_what_has_no_word():
    """Two users who differ in item 0 only look alike on the rest, however it is packed."""
    table = random_table(3, 40, 17, 3)
    table[1] = table[0]
    table[1, 0] = (table[0, 0] + 1) % 3
    data = make_responses(table)
    words = option_words(data.n_options)
    rest = np.where(data.option_items == 0, np.uint64(0), words)
    for engine in KINDS.values():
        all_of_it, some = (engine(data).fingerprints(w) for w in (words, rest))
        assert all_of_it[0] != all_of_it[1]
        assert some[0] == some[1]


@pytest.mark.parametrize("engine", ["packed-1", "sparse-1"])
def test_vectors_of_the_wrong_length_are_refused(engine):
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    sums = ENGINES[engine](data)
    with pytest.raises(ValueError, match=r"weights must be .* length 4; got shape \(3,\)"):
        sums.choices(np.ones(3))
    with pytest.raises(ValueError, match=r"scores must be .* length 3; got shape \(4, 2\)"):
        sums.choosers(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"scale must be a vector of length 3"):
        sums.through(np.ones(4), scaled, np.ones((3, 1)))


def test_option_numbers_out_of_range_are_refused():
    data = Responses(
        users=np.arange(2),
        items=np.arange(1),
        option_labels=np.arange(2),
        item_starts=np.array([0, 2]),
        rows=(np.array([0, 1, 2]), np.array([0, 2], dtype=np.int32)),
    )
    with pytest.raises(InputError, match="from 0 to 1; got 0 to 2"):
        build_layout(data, layout="sparse")


def test_overrides_have_the_names_of_methods_that_exist():
    """A method that is renamed in the base class would leave them behind, unseen without a GPU."""
    assert {name for name in vars(StrictEngine) if not name.startswith("__")} <= {*dir(NumpyEngine)}
    found = ast.parse(Path(find_spec("hitsndiffs.engines.cupy").origin).read_text("utf-8"))
    engine = next(part for part in found.body if getattr(part, "name", "") == "CupyEngine")
    methods = {part.name for part in engine.body if isinstance(part, ast.FunctionDef)}
    public = {name for name in methods if not name.startswith("_")}
    assert public - {*dir(Engine)} == {"of_layout"}  # for the benchmark
