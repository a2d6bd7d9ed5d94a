"""The page for people without a terminal: drop files in, see how they are read, get the report.

It is one person's page, on this machine. The server (:mod:`.app`) only moves files and texts;
reading and ranking run in another process (:mod:`.jobs`) with limits on time and memory.
"""
