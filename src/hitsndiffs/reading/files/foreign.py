"""Files that hold no table, or none that can be read: what each is, by its first bytes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from pathlib import PurePosixPath

from hitsndiffs.errors import InputError

__all__ = [
    "START",
    "check_is_text",
    "no_text",
    "refuse_archive",
    "refuse_foreign",
    "refuse_old_office",
]

#: So many of the first bytes tell all of these.
START = 512

_UNPACK = "unpack it first (gzip and zip can be read as they are)"
_SAVE = "export the table as CSV, xlsx or Parquet"
_COPY = "copy the table into a spreadsheet and save it as xlsx or CSV"
_BINARY = (
    # packed
    (rb"BZh[1-9]1AY&SY", f"compressed with bzip2; {_UNPACK}"),
    (rb"\xfd7zXZ|\x5d\x00\x00[\x00-\xff]{2}[\x00\xff]", f"compressed with xz; {_UNPACK}"),
    (rb"\x1f[\x9d\xa0]", f"compressed (.Z); {_UNPACK}"),
    (rb"\x04\x22\x4d\x18", f"compressed with lz4; {_UNPACK}"),
    (rb"7z\xbc\xaf\x27|Rar!\x1a\x07", f"a 7-Zip or RAR archive; {_UNPACK}"),
    (rb"[\x00-\xff]{257}ustar(?:\x00|  \x00)", f"a tar archive; {_UNPACK}"),
    (rb"PK\x05\x06", "an empty zip archive; pack the files again"),
    # documents
    (rb"\s*%PDF", f"a PDF; {_SAVE}, from the program that made it"),
    (rb"\{\\rtf", f"a text document (RTF); {_COPY}"),
    (
        rb"\x09[\x00\x02\x04][\x04\x06]\x00",
        "an Excel workbook of before 1993; open it in a spreadsheet program and save it as xlsx",
    ),
    # data
    (rb"SQLite format 3|[\x00-\xff]{8}DUCK[\x00-\xff]\x00", f"a database; {_SAVE}"),
    (rb"\x00\x01\x00\x00Standard (?:Jet|ACE) DB", f"an Access database; {_SAVE}"),
    (
        rb"[\x03\x83\x8b\xf5][\x00-\xff][\x01-\x08\x0b\x0c][\x01-\x08\x0b\x0c\x0e-\x1f]",
        f"a dBase table; {_SAVE}",
    ),
    (
        rb"RD[AX][23]?\n|[XAB]\n\x00\x00\x00[\x02\x03]|A\n[23]\n\d{5,7}\n",
        "R's own data; write the table with write.csv()",
    ),
    (
        rb"ARROW1|FEA1|\xff{4}[\x00-\xff]{2}\x00\x00\x10\x00\x00\x00",
        "an Arrow (Feather) file; write it as Parquet or CSV",
    ),
    (rb"Obj\x01|ORC[\x00-\x08\x0e-\x1f]", "an Avro or ORC file; write it as Parquet or CSV"),
    (rb"\x89HDF", "an HDF5 file (also a MATLAB file since 7.3); write the table as CSV or Parquet"),
    (rb"MATLAB 5\.0", "a MATLAB file; write the table with writetable() as CSV"),
    (rb"\x93NUMPY", "a NumPy array; load it with numpy.load() and pass the array itself"),
    (
        rb"\x80[\x02-\x05][\x8cc\x95}\]]|\((?:dp|lp|ip)0?\n|c(?:copy_reg|__builtin__|pandas\S*)\n",
        "a Python pickle; write the table as CSV or Parquet",
    ),
    (rb"\x00{12}\xc2\xea\x81[^\x60]", "a catalogue of SAS, without data; give the .sas7bdat file"),
    (rb"\xff\xff\x00\x00\x07\x00|\x07\x00\x00\x00\xff\xff", f"a table of JMP; {_SAVE}"),
    # pictures, sounds, programs
    (
        rb"\x89PNG|\xff\xd8\xff|GIF8[79]a|II\*\x00|MM\x00\*|BM[\x00-\xff]{4}\x00{4}|8BPS\x00"
        rb"|\x00\x00[\x01\x02]\x00[\x01-\xff]\x00|RIFF[\x00-\xff]{4}WEBP",
        "a picture; the table itself is needed",
    ),
    (
        rb"RIFF[\x00-\xff]{4}(?:WAVE|AVI )|ID3[\x02-\x04]|OggS\x00|fLaC\x00"
        rb"|[\x00-\xff]{4}ftyp\w{3}",
        "a picture, a sound or a film; the table itself is needed",
    ),
    (
        rb"MZ\x90\x00|\x7fELF|\xca\xfe\xba\xbe|\x00asm|[\x00-\xff]{2}\r\n[\x00-\x03]\x00{3}",
        "a program; the table itself is needed",
    ),
)
#: Texts, which may begin with a byte order mark.
_TEXTS = (
    (
        rb"version https://git-lfs\.github\.com/spec/",
        "a pointer to a file kept in Git LFS, not the file itself; fetch it with git lfs pull",
    ),
    (
        rb"(?:\.\./|\.git/|/)*annex/objects/",
        "a pointer to a file kept by git-annex, not the file itself; fetch it with git annex get",
    ),
    (
        rb"(?s)<\?xml.{0,300}urn:schemas-microsoft-com:office:spreadsheet",
        "a spreadsheet in Excel's XML of 2003; open it in a spreadsheet program and save it as "
        "xlsx",
    ),
    (
        rb"(?i)(?:<!--[^>]{0,300}-->\s*)?(?:<!doctype html|<html)",
        "a web page, not a table; download the data again (look for 'raw' or 'download'), or copy "
        "the table into a spreadsheet and save it as CSV",
    ),
    (
        rb"(?:while ?\(1\);|for ?\(;;\);|(?:var|let|const) \w+ ?=|export default|"
        rb"[A-Za-z_$][\w$.]* ?\(|data:)\s*[\[{]\s*[\[{\"]",
        "JSON with words of a program around it; keep what stands between the first bracket and "
        "the last",
    ),
    (
        rb"(?://[^\n]{0,300}\n|/\*[^*]{0,300}\*/)\s*[\[{]",
        "JSON with a comment, which JSON does not have; take the comments out",
    ),
    (
        rb"\[?\s*\{\s*'",
        "Python's own notation, not JSON: names stand in single quotation marks; write it with "
        "json.dumps()",
    ),
)
#: Web pages that some programs save under this ending.
_SPREADSHEETS = (".xls", ".xlsx", ".ods")
_R_ENDINGS = (".rds", ".rda", ".rdata")

#: What an archive is by some of its members.
_MEMBERS = (
    ("word/document.xml", f"a Word document; {_COPY}"),
    ("ppt/presentation.xml", f"a PowerPoint presentation; {_COPY}"),
    ("Index/Document.iwa", "a document of Apple's Numbers or Pages; export it as CSV or xlsx"),
    ("Index.zip", "a document of Apple's Numbers or Pages; export it as CSV or xlsx"),
    ("data.bin metadata.json", "a file of jamovi; export the data as CSV"),
    ("internal.sqlite", "a file of JASP; export the data as CSV"),
    (
        "outputViewer0000000000.xml",
        "SPSS's output, not its data; give the .sav file, or export it as CSV",
    ),
    ("META-INF/container.xml", f"a book (EPUB); {_COPY}"),
)
_SHEET = b"spreadsheet"


def refuse_foreign(start: bytes, name: str) -> None:
    r"""Refuse known kinds of file that cannot be read, by their first bytes.

    Examples
    --------
    >>> refuse_foreign(b"user,q1\nann,A\n", "a.csv")
    >>> refuse_foreign(b"\x89PNG", "a.csv")
    Traceback (most recent call last):
        ...
    hitsndiffs.errors.InputError: a.csv: this is a picture; the table itself is needed.
    """
    ending = PurePosixPath(name.lower()).suffix
    if ending in _R_ENDINGS and re.match(rb"BZh|\xfd7zXZ", start):
        raise InputError(f"{name}: this is R's own data; write the table with write.csv().")
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    for signs, begin in ((_BINARY, start), (_TEXTS, text)):
        for begins, words in signs:
            if re.match(begins, begin):
                if words.startswith("a web page") and ending in _SPREADSHEETS:
                    words = (
                        "a web page, which some programs save as a spreadsheet; open it in a "
                        "spreadsheet program and save it as xlsx or CSV"
                    )
                raise InputError(f"{name}: this is {words}.")


def refuse_archive(members: Collection[str], read: Callable[[str], bytes], name: str) -> None:
    """Refuse a zip that is a document of a program, by its members."""
    for own, words in _MEMBERS:
        if {*own.split()} <= {*members}:
            raise InputError(f"{name}: this is {words}.")
    if "mimetype" in members and "content.xml" in members and _SHEET not in read("mimetype"):
        raise InputError(f"{name}: this is a text document, no spreadsheet; {_COPY}.")


def _wide(name: str) -> bytes:
    return name.encode("utf-16-le")


#: What the old format of Office holds, by the names of its streams.
_STREAMS = (
    ("EncryptedPackage", "locked with a password; save it without one"),
    ("WordDocument", f"a Word document; {_COPY}"),
    ("PowerPoint Document", f"a PowerPoint presentation; {_COPY}"),
)


def refuse_old_office(data: bytes, name: str) -> None:
    """Refuse what older programs wrote in the same container as Excel, by the streams in it."""
    if _wide("Workbook") in data or _wide("Book") in data:
        return
    own = (words for stream, words in _STREAMS if _wide(stream) in data)
    words = next(own, f"damaged, or a file of another program (Word, Minitab and others); {_SAVE}")
    raise InputError(f"{name}: this is {words}.")


def no_text(name: str, line: int | None = None) -> InputError:
    """Return the error for a file, or a line of it, that is no text and of no known kind."""
    where = name if line is None else f"{name}, line {line}"
    return InputError(
        f"{where}: this is not text (it holds bytes that no text has), and no other kind of file "
        f"that can be read; {_SAVE}."
    )


#: Kinds of characters that texts do not have: control characters, and those without a meaning.
_ODD = frozenset(("Cc", "Cs", "Cn"))
#: A text with more of them, and a larger share, is none.
_FEW, _SHARE = 8, 0.05


def check_is_text(text: str, name: str) -> None:
    r"""Refuse what was decoded as text but is none.

    Examples
    --------
    >>> check_is_text("user\tq1\n", "a.csv")
    >>> check_is_text("\x08\x01\x02" * 3 + "user", "a.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    hitsndiffs.errors.InputError: a.csv: this is not text (it holds bytes that no text has)...
    """
    given = "".join(text.split())
    if given.isprintable():
        return
    odd = sum(unicodedata.category(sign) in _ODD for sign in given)
    if odd > max(_FEW, _SHARE * len(given)):
        raise no_text(name)
