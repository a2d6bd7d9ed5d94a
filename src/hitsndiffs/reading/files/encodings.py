"""Find the encoding of a text from its first bytes."""

from __future__ import annotations

import codecs
import re

__all__ = ["TITLES", "find_encoding"]

#: The encodings that are found, as people know them.
TITLES = {
    "cp1252": "Windows-1252 (Western European)", "latin-1": "Latin-1",
    "cp1251": "Windows-1251 (Cyrillic)", "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)", "cp932": "Shift-JIS (Japanese)", "cp949": "EUC-KR (Korean)",
}  # fmt: skip
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: Input of at least this many bytes may end in the middle of a character.
_LONG = 1 << 12
#: This many bytes are enough to tell one encoding from another.
_ENOUGH = 1 << 16
#: Quotation marks, dashes, the euro sign and œ, š, ž in Windows-1252; other bytes below 0xA0 are
#: not text.
_WESTERN_SIGNS = frozenset(
    b"\x80\x82\x84\x85\x8a\x8c\x8e\x91\x92\x93\x94\x95\x96\x97\x99\x9a\x9c\x9e\x9f"
)
_HIGH = re.compile(rb"[\x80-\xff]+")
#: Texts in the right encoding score at least this much, others seldom.
_SURE = 0.8


def find_encoding(start: bytes) -> str:
    r"""Return the encoding of a text from its first bytes.

    A byte order mark, or many zero bytes (UTF-16), decides. Otherwise it is UTF-8 if the bytes are
    valid UTF-8; else a Chinese, Japanese, Korean or Cyrillic encoding that clearly fits; else
    Windows-1252, or Latin-1 if the bytes are not valid Windows-1252 either.

    Examples
    --------
    >>> find_encoding("é".encode()), find_encoding("é".encode("cp1252"))
    ('utf-8', 'cp1252')
    >>> find_encoding("a,b\n1,2\n".encode("utf-16-le"))
    'utf-16-le'
    >>> find_encoding("学号,姓名,第1题\n".encode("gb18030"))
    'gb18030'
    >>> find_encoding("Студент;Вопрос 1\n".encode("cp1251"))
    'cp1251'
    """
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    head = start[:4096]
    if len(head) >= 4 and head.count(0) * 3 > len(head):
        return "utf-16-le" if head[1::2].count(0) >= head[0::2].count(0) else "utf-16-be"
    if start.isascii():
        return "utf-8"
    try:
        # the last character of a long text may be cut
        codecs.getincrementaldecoder("utf-8")().decode(start, final=len(start) < _LONG)
    except UnicodeDecodeError:
        return _not_utf8(start)
    return "utf-8"


def _not_utf8(start: bytes) -> str:
    head = start[:_ENOUGH]
    if not _is_western(head):
        scores = {name: _score(head, name) for name in (*_COMMON, "cp1251")}
        best = max(scores, key=scores.__getitem__)
        if scores[best] >= _SURE:
            return best
    try:
        start.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _is_western(head: bytes) -> bool:
    """Whether accented letters stand among plain ones, as in Western texts."""
    high = fits = 0
    for found in _HIGH.finditer(head):
        run = found[0]
        high += len(run)
        around = head[max(found.start() - 1, 0) : found.start()] + head[found.end() :][:1]
        among = len(run) == 1 or (len(run) <= 3 and re.search(rb"[A-Za-z]", around))
        if among and all(byte >= 0xA0 or byte in _WESTERN_SIGNS for byte in run):
            fits += len(run)
    return fits >= 0.7 * high


#: Where the common characters of an encoding stand: a character set, the first bytes of the common
#: ones in it, and other characters that are common. Korean text also uses Chinese characters up to
#: 0xC8, but hardly any others.
_COMMON = {
    "cp949": ("euc_kr", range(0xB0, 0xC9), ""),
    "gb18030": ("gb2312", range(0xB0, 0xD8), ""),
    "cp932": ("cp932", range(0x88, 0x99), "[\u3000-\u30ff\uff00-\uff5f]"),
    "big5": ("big5", range(0xA4, 0xC7), ""),
}


def _score(head: bytes, name: str) -> float:
    """Return the share of non-ASCII letters that are common in texts of that encoding."""
    try:
        text = codecs.getincrementaldecoder(name)().decode(head, final=len(head) < _LONG)
    except UnicodeDecodeError:
        return 0.0
    letters = [sign for sign in text if not sign.isascii()]
    if name == "cp1251":
        words = re.findall("[\u0400-\u04ff]+", text)
        usual = sum(len(w) for w in words if w[1:].islower() or w.isupper() or len(w) == 1)
        return usual / len(letters) if letters else 0.0
    charset, common, more = _COMMON[name]
    codes = [sign.encode(charset, "ignore") for sign in letters]
    usual = sum(len(code) == 2 and (code[0] in common or code[0] in (0xA1, 0xA3)) for code in codes)
    if more:
        usual += len(re.findall(more, text))
    return usual / len(letters) if letters else 0.0
