"""Exports made by our own code, one function per format, each with what reading it must give."""
