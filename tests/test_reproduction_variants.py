"""The paper's variants with full matrices, the published code's ways, the real data's source."""

import hashlib

import numpy as np
import pytest
from factory import make_responses, random_table

from hitsndiffs.errors import InputError
from hitsndiffs.irt import Bock, Samejima, simulate
from reproduction import fetching
from reproduction.__main__ import main
from reproduction.diagrams import MODELS, SPECIAL_CASES, graph
from reproduction.full_matrices import VARIANTS, one_hot, run_variant
from reproduction.published import displacement, grm_levels

# -- full matrices --------------------------------------------------------------------------------


def second_axis(C, of):
    """The second axis of U, or the second smallest of the Laplacian, by a dense solver."""
    if of == "hnd":
        values, vectors = np.linalg.eig((C / C.sum(1)[:, None]) @ (C / C.sum(0)).T)
        return vectors[:, np.argsort(-values.real)[1]].real
    A = C @ C.T
    return np.linalg.eigh(np.diag(A.sum(1)) - A)[1][:, 1]


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_every_variant_finds_its_axis(name, missing):
    C = one_hot(make_responses(random_table(3, 40, 30, 3, missing=missing)))
    run = run_variant(name, C, seed=1, tol=1e-9)
    want = second_axis(C, name.split("/")[0])
    assert abs(np.corrcoef(run.scores, want)[0, 1]) > 1 - 1e-6
    assert (run.rounds > 0) == (name not in ("hnd/arnoldi", "abh/direct"))


def test_deflation_pays_for_the_left_eigenvector():
    """Twice a power iteration, where HnD-power needs one (Section III-F)."""
    C = one_hot(simulate("grm", users=1000, seed=3).responses)
    power, deflation = (run_variant(f"hnd/{name}", C).rounds for name in ("power", "deflation"))
    assert power == 8  # the paper's number, a median of five
    assert power + 3 <= deflation <= power + 8  # the paper: 14


def test_what_does_not_fit_into_memory_is_refused():
    C = one_hot(simulate("grm", users=50, items=5, seed=3).responses)
    with pytest.raises(InputError, match=r"2 full matrices of 50 × 50 numbers .* are free"):
        run_variant("abh/power", C, memory=10_000.0)
    assert run_variant("hnd/power", C, memory=10_000.0).rounds > 0  # needs no such matrix


# -- the published code's ways --------------------------------------------------------------------


def test_published_levels_are_entries_of_an_argsort():
    slopes = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    theta = np.linspace(-3, 3, 200)
    sim = simulate(Bock(slopes, np.zeros((2, 3))), users=200, ability=theta, seed=0)
    codes, levels = sim.responses.codes, grm_levels(sim)
    order = np.argsort(slopes, axis=1)
    for item in range(2):
        np.testing.assert_array_equal(levels[:, item], order[item][codes[item]])
    # In ascending order they are ranks; else they are not.
    np.testing.assert_array_equal(levels[:, 1], codes[1])
    assert order[0].tolist() != np.argsort(order[0]).tolist()


def test_published_levels_count_dont_know_and_missing_answers():
    sim = simulate("samejima", users=60, items=8, seed=2, answer_probability=0.5)
    assert isinstance(sim.model, Samejima)
    levels = grm_levels(sim)
    missing = sim.responses.codes.T == 255
    assert (levels[missing] == 3).all()  # three options and "don't know": the last of four
    assert set(np.unique(levels[~missing])) <= {0, 1, 2, 3}
    # "Don't know" has the lowest slope, so the first option's level is always that of none.
    graded = simulate("grm", users=60, items=8, seed=2, answer_probability=0.5)
    levels = grm_levels(graded)
    assert (levels == -1).sum() == 60 * 4
    assert levels.max() == 2


def test_published_displacement_of_a_perfect_ranking_is_not_zero():
    assert displacement(np.arange(100.0)) == pytest.approx(0.01)
    assert displacement(-np.arange(100.0)) == pytest.approx(0.5)


# -- diagrams -------------------------------------------------------------------------------------


def test_every_model_of_figure_2_is_joined_to_another():
    joined = {name for arrow in SPECIAL_CASES for name in (arrow.general, arrow.special)}
    assert joined == set(MODELS)
    assert {(a.general, a.special) for a in SPECIAL_CASES if not a.exact} == {
        ("samejima", "3pl"),
        ("bock", "grm"),
    }


def test_the_graph_of_figure_3_has_an_edge_per_answer_and_two_per_difference():
    edges = graph()
    assert len(edges["options"]) == 4 * 3
    assert len(edges["differences"]) == 2 * 3


# -- the real data --------------------------------------------------------------------------------


def published_copy(folder):
    """A small stand-in for the authors' repository, with check sums of its own."""
    sums = {}
    for name in fetching.CHECK_SUMS:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"0,1\n1,{len(name) % 2}\n")
        sums[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return folder.as_uri(), sums


def test_data_are_fetched_and_checked(tmp_path):
    source, sums = published_copy(tmp_path / "source")
    files = fetching.fetch_data(tmp_path / "data", source, check_sums=sums)
    assert len(files) == 12
    assert all(path.read_bytes().startswith(b"0,1") for path in files)
    (tmp_path / "source" / "IT" / "truth.csv").write_text("something else")
    with pytest.raises(InputError, match=r"IT/truth.csv: the file is not the one"):
        fetching.fetch_data(tmp_path / "again", source, check_sums=sums)
    assert not (tmp_path / "again").exists()  # all or nothing
    (tmp_path / "source" / "IT" / "truth.csv").unlink()
    with pytest.raises(InputError, match="could not be fetched"):
        fetching.fetch_data(tmp_path / "again", source, check_sums=sums)


@pytest.mark.data
def test_check_sums_are_those_of_the_papers_data(data_folder):
    for name, want in fetching.CHECK_SUMS.items():
        content = (data_folder / "mcq" / name).read_bytes()
        assert hashlib.sha256(content).hexdigest() == want


def test_without_the_data_the_source_is_named_and_the_exit_code_is_2(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("HITSNDIFFS_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["real"]) == 2
    said = capsys.readouterr().err
    assert "github.com/northeastern-datalab/HITSnDIFFS" in said
    assert "python -m reproduction --fetch-data" in said
    assert not (tmp_path / "out").exists()
    # Beside other figures it is left out, and said.
    assert main(["real", "example"]) == 2
    assert "--fetch-data" in capsys.readouterr().out
    assert (tmp_path / "out" / "reproduction" / "data" / "example.json").exists()


# -- the command ----------------------------------------------------------------------------------


def test_the_command_lists_its_figures(capsys):
    assert main(["--list"]) == 0
    assert "accuracy/grm/items" in capsys.readouterr().out


def test_the_command_runs_a_figure(tmp_path, capsys):
    few = ["--runs", "1", "--points", "1", "--jobs", "1", "--methods", "hnd"]
    assert main(["accuracy/c1p/items", *few, "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "index.html").exists()
    assert "cells" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [[], ["figure-nine"], ["example", "--runs", "0"]])
def test_wrong_use_is_said_in_one_line(wrong, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(wrong) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("reproduction: ")
    assert said.err.count("\n") == 1
