"""Tables in files, read in pieces: delimited text, spreadsheets, Parquet, JSON records."""
