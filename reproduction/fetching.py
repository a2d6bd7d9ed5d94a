"""Fetch the paper's six real data sets from the authors' public repository, and check them.

The data are not ours to distribute (they come from Li, Baba and Kashima, CIKM 2017),
so the package stores only the address, the version and a checksum of every file.
"""

from __future__ import annotations

import hashlib
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from hitsndiffs.data.files import bytes_writer, write_whole
from hitsndiffs.errors import InputError

__all__ = ["CHECK_SUMS", "REPOSITORY", "fetch_data"]

REPOSITORY = "https://github.com/northeastern-datalab/HITSnDIFFS"
#: The commit of the repository that is used.
VERSION = "04191e0ca2c8a8b19ff43c1f7382e6ae6f793fbd"
SOURCE = f"https://raw.githubusercontent.com/northeastern-datalab/HITSnDIFFS/{VERSION}/datasets"
#: SHA-256 of every file.
CHECK_SUMS = {
    "Chinese/answer.csv": "e68fa17eb5935a90cce89de3d257b861871f9b6f87d3caf9f7a25e079f89e826",
    "Chinese/truth.csv": "09026ef23892ec1a49f0c47ab517a2da925554f7d7315726c8ee0088cdfd4add",
    "English/answer.csv": "f3c18627bd4fd0f611adfb0ac04baab4b18bf13ca607c1caa91834b0f9a14cdf",
    "English/truth.csv": "77ba35039b27d34fc2057e0d4fe8ccfa550ddf0fe97e1d8c3f19bca153262b75",
    "IT/answer.csv": "76f755c89df5126d156cd4eaead3ae0e6e261543a1be8a1f06acdad95e0730b7",
    "IT/truth.csv": "a006c5075b1e85f730f580b206b6282b22d1dcab8888e8818bc77aff95e62ca7",
    "Medicine/answer.csv": "46e3d924182301787bccf5d4be5c72b025ce6d310debed15fa6f67637761438a",
    "Medicine/truth.csv": "d719b24b749c4afb4afc36b58f397a654ab9a8596952be4e6cebc17d66f35308",
    "Pokemon/answer.csv": "c79c0fc150d1a9a894e2d1f335c625ef2c77bda20468902544bb441a943b634a",
    "Pokemon/truth.csv": "40f1bb47d6ef91bc75e77ddb744780b6948488a0021a0cde875854cc901be9ed",
    "Science/answer.csv": "15bbe86157fe322ed224bc2f6fd610c010f949e3630a4840be990b0a6cee1837",
    "Science/truth.csv": "117c1303a1fc005b3e9ca5f9d0b94cc5dee65f5e78bc794b67753aa5e0cda604",
}


def fetch_data(
    folder: str | os.PathLike[str],
    source: str = SOURCE,
    *,
    check_sums: Mapping[str, str] = CHECK_SUMS,
) -> list[Path]:
    """Fetch the data sets into a folder, check them, and write all files or none.

    ``source`` is their base address; ``check_sums`` names the files, with their SHA-256 sums.
    """
    fetched = {name: _fetch(f"{source}/{name}") for name in check_sums}
    for name, content in fetched.items():
        if hashlib.sha256(content).hexdigest() != check_sums[name]:
            raise InputError(
                f"{source}/{name}: the file is not the one that the paper used (its SHA-256 sum "
                f"differs); get the data sets from {REPOSITORY}/tree/{VERSION}/datasets."
            )
    paths = {Path(folder) / name: content for name, content in fetched.items()}
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole({path: bytes_writer(content) for path, content in paths.items()})
    return list(paths)


def _fetch(address: str) -> bytes:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            content: bytes = answer.read()
            return content
    except (urllib.error.URLError, OSError) as error:
        raise InputError(
            f"{address} could not be fetched ({error}); get the data sets from "
            f"{REPOSITORY}/tree/{VERSION}/datasets by other means, and name their folder in "
            "HITSNDIFFS_DATA."
        ) from None
