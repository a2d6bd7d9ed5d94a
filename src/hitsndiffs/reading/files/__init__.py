"""Bytes to documents: paths, streams and archives; encodings, JSON, sheets, rows of text."""
