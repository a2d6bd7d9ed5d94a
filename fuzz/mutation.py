"""Small damages: to bytes, to texts, to JSON, and to what is inside a packed file."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from typing import Any

TOKENS = [
    b",", b";", b"\t", b'"', b"'", b"\n", b"\r\n", b"\r", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf",
    b"NaN", b"null", b"true", b"True", b"-1", b"1e999", b"9" * 30, b"=1+1", b"\\ud800",
    b"\xed\xa0\x80",
    b"{", b"}", b"[", b"]", b"[" * 50, b'{"a":' * 20, b"user", b"item", b"answer", b"key", b"Score",
    "é".encode("latin-1"), "ﬁ\u202e".encode(), b"<script>", b"\x1b[2J", b"%s%n", b"../../x",
    b" " * 40,
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1.5, 10**30, -(10**25), 1e308, "", "A", "\ud800", "x" * 300, [], {},
    [[]], [None], {"a": {"a": {}}}, "=1+1", "1.0", "1", "NaN",
]  # fmt: skip


def damaged(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """One to four damages; where the bytes are packed, half of the time to what is inside."""
    if rng.random() < 0.5:
        inside = _inside(data, rng)
        if inside is not None:
            return inside
    for _ in range(rng.randint(1, 4)):
        data = _damage(data, rng, other)
    return data[: 1 << 20]


def _inside(data: bytes, rng: random.Random) -> bytes | None:
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(damaged(gzip.decompress(data), rng), 1)
    if data[:2] == b"PK":
        try:
            return _zip(data, rng)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
            return None
    if data.lstrip()[:1] in (b"{", b"["):
        return _json(data, rng)
    return _rows(data, rng)


def _zip(data: bytes, rng: random.Random) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        victim = rng.choice(names)
        for name in names:
            content = old.read(name)
            if name == victim:
                content = damaged(content, rng)
                name = rng.choice([name, name, name, "../" + name, "/etc/" + name, name * 20])
            new.writestr(name[:200], content)
    return out.getvalue()


def _json(data: bytes, rng: random.Random) -> bytes | None:
    lines = data.split(b"\n")
    place = rng.randrange(len(lines))
    whole = False
    try:
        value = json.loads(lines[place])
    except ValueError:
        try:
            value, whole = json.loads(data), True
        except (ValueError, RecursionError):
            return None
    for _ in range(rng.randint(1, 3)):
        value = _changed(value, rng)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "replace")
    if whole:
        return text
    lines[place] = text
    return b"\n".join(lines)


def _changed(value: Any, rng: random.Random) -> Any:
    if rng.random() < 0.2 or not isinstance(value, dict | list) or not value:
        return rng.choice(VALUES)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        action = rng.random()
        if action < 0.15:
            return value[:place] + value[place + 1 :]
        if action < 0.3:
            return [*value, value[place]]
        return [*value[:place], _changed(value[place], rng), *value[place + 1 :]]
    name = rng.choice(list(value))
    action = rng.random()
    if action < 0.15:
        return {k: v for k, v in value.items() if k != name}
    if action < 0.3:
        return {**value, rng.choice(["user", "", "id", "q1", name + "2"]): value[name]}
    return {**value, name: _changed(value[name], rng)}


def _rows(data: bytes, rng: random.Random) -> bytes:
    """Damage to rows and cells: repeated, lost, moved, or something else in them."""
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(lines))
        mark = rng.choice([b",", b";", b"\t"])
        cells = lines[place].split(mark)
        cell = rng.randrange(len(cells))
        action = rng.randrange(7)
        if action == 0:
            lines.insert(place, rng.choice(lines))
        elif action == 1 and len(lines) > 1:
            del lines[place]
        elif action == 2:
            cells.insert(cell, rng.choice(TOKENS))
        elif action == 3 and len(cells) > 1:
            del cells[cell]
        elif action == 4:
            cells[cell] = rng.choice(TOKENS)
        elif action == 5:
            cells[cell] = b'"' + cells[cell] + rng.choice([b'"', b'""', b"\n", b""])
        else:
            cells.append(b"")
        if action >= 2:
            lines[place] = mark.join(cells)
    return b"\n".join(lines)


def _damage(data: bytes, rng: random.Random, other: bytes) -> bytes:
    if not data:
        return rng.choice(TOKENS)
    place = rng.randrange(len(data))
    end = min(len(data), place + 1 + int(rng.expovariate(1 / 12)))
    action = rng.randrange(8)
    if action == 0:
        return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]
    if action == 1:
        return data[:place] + rng.randbytes(end - place) + data[end:]
    if action == 2:
        return data[:place] + data[end:]
    if action == 3:
        return data[:end] + data[place:end] * rng.randint(1, 5) + data[end:]
    if action == 4:
        return data[:place] + rng.choice(TOKENS) + data[place:]
    if action == 5:
        return data[:place]
    if action == 6 and other:
        return data[:place] + other[rng.randrange(len(other)) :]
    return data[:place] + bytes([rng.choice([0, 0xFF, 0x7F, 0x80, 0x22, 0x0A])]) + data[place + 1 :]
