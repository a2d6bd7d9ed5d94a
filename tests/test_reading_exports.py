"""Real exports, where the folder is at hand: each as its manifest says, none silently wrong."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest
from factory import some

import hitsndiffs as hnd

FOLDER = os.environ.get("HITSNDIFFS_DATA")
pytestmark = pytest.mark.data


def manifest() -> list[dict[str, object]]:
    path = None if FOLDER is None else Path(FOLDER) / "exports" / "manifest.json"
    if path is None or not path.exists():
        return []
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("entry", manifest(), ids=lambda entry: str(entry["dir"]))
def test_a_real_export_is_read_as_its_manifest_says(entry):
    path = Path(str(FOLDER)) / "exports" / str(entry["path"])
    plan, r, refused = None, None, ""
    try:
        plan = hnd.plan(path)
        r = plan.read()
    except hnd.InputError as error:
        refused = str(error)
    if r is None:
        assert entry.get("refuse") or entry.get("refuse_ok"), refused
        assert refused.endswith(".")
        return
    assert not entry.get("refuse") or entry.get("refuse_ok")
    assert r.n_users in {entry["users"], *entry.get("users_ok", [])}
    assert r.n_items in {entry["items"], *entry.get("items_ok", [])}
    if entry["key"]:
        assert r.key is not None
        assert len(r.key) > 0
    elif r.key is not None:  # nobody wrote a key, but points may give it away
        assert "points" in r.key.source
    assert plan.why
    assert plan.users == r.n_users


def test_there_are_exports():
    if FOLDER is None:
        pytest.skip("HITSNDIFFS_DATA does not name the folder of real data")
    assert len(manifest()) > 20


#: What version 0.1 read: users, items, options, answers, and a digest of all labels.
#: The small and the various come first.
BEFORE = {
    "mcq/Chinese/answer.csv": (24, 50, 248, 1200, "cf68aedc4a62"),
    "mcq/Chinese/answer.csv^T": (50, 24, 118, 1200, "c30d71c0aa37"),
    "mcq/English/answer.csv": (30, 63, 313, 1890, "68ee0c0480b3"),
    "mcq/English/answer.csv^T": (63, 30, 150, 1890, "9ff650271b1b"),
    "mcq/IT/answer.csv": (25, 36, 143, 900, "18c8a62cd093"),
    "mcq/IT/answer.csv^T": (36, 25, 96, 900, "e393069b8ba1"),
    "mcq/Medicine/answer.csv": (36, 45, 180, 1620, "59ede2a51c93"),
    "mcq/Medicine/answer.csv^T": (45, 36, 140, 1620, "8a5bfdbfe467"),
    "mcq/Pokemon/answer.csv": (20, 55, 319, 1100, "e8b9532507d0"),
    "mcq/Pokemon/answer.csv^T": (55, 20, 120, 1100, "4cacb3d4cadd"),
    "mcq/Science/answer.csv": (20, 111, 544, 2220, "767f0c4d7523"),
    "mcq/Science/answer.csv^T": (111, 20, 100, 2220, "7660528bc9aa"),
    "real/credential/responses.csv": (1636, 200, 796, 294340, "9cc420471073"),
    "real/fims/responses.csv": (6368, 10, 50, 60749, "2d1e05ee834b"),
    "real/itan_ds1/responses.csv": (39, 50, 233, 1784, "5cc935018126"),
    "real/medical_admission/responses.csv": (2392, 100, 1317, 237943, "1f6ab7f6e92d"),
    "real/openpsy_iq1/responses.csv": (399, 25, 198, 9474, "47dac2b2a9c7"),
    "real/sphere_tce/responses.csv": (497, 26, 111, 12922, "ad2d4e44b670"),
    "more/crowd_temporal/responses.csv": (76, 462, 916, 4620, "1ef9ec2429b0"),
    "more/crt_lm/responses.csv": (26, 150, 1073, 3748, "1fe8bc5cb614"),
    "more/gk_a/responses.csv": (90, 100, 200, 8752, "cc162b1137b3"),
    "more/sp_art/responses.csv": (40, 90, 180, 3590, "ccee4ae93fbc"),
    "more/sp_lesions/responses.csv": (25, 80, 146, 1500, "889e1c369130"),
    "more/gk_b/responses.csv": (89, 100, 200, 8686, "3489ae7226ce"),
    "real/eedi_core/responses.csv": (438, 412, 1646, 60244, "74ed91e426c3"),
    "real/crowd_rte/responses.csv": (164, 800, 1522, 8000, "154c572f4a4b"),
    "more/copa_dialect_lm/responses.csv": (26, 500, 994, 12980, "c76bf540bcb8"),
    "more/copa_lm/responses.csv": (78, 500, 980, 38975, "889453f45c80"),
    "more/syntax_lm/responses.csv": (19, 725, 1389, 13775, "b33f4bcb05b7"),
    "more/timss07_rus/responses.csv": (3000, 220, 883, 91106, "7199dc5727e2"),
    "more/digit_matrices_lm/responses.csv": (22, 999, 2203, 21978, "acee30817718"),
    "real/crowd_web/responses.csv": (176, 2653, 7447, 15539, "73bf5cd495c0"),
    "more/crowd_product/responses.csv": (89, 3000, 4158, 8506, "765ceceedd67"),
    "real/mmlu_pro/responses.csv": (29, 11990, 62686, 310304, "4f985b38abf6"),
}


@pytest.mark.parametrize("name", some(BEFORE, 23))
def test_plain_tables_keep_exactly_what_they_had(name):
    if FOLDER is None:
        pytest.skip("HITSNDIFFS_DATA does not name the folder of real data")
    path, _, turned = name.partition("^")
    # these six have neither names nor a header: left to itself, the reader sees rows of items
    way = {"transpose": True} if turned else {"layout": "wide"} if path.startswith("mcq") else {}
    r = hnd.read_responses(Path(FOLDER) / path, **way)
    labels = [*map(str, r.items), "|", *map(str, r.users), "|", *map(str, r.option_labels)]
    digest = hashlib.sha256("\0".join(labels).encode()).hexdigest()[:12]
    found = (r.n_users, r.n_items, r.n_options, r.n_responses, digest)
    assert found == BEFORE[name]
