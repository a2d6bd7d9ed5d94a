"""What a plain table is: one row per user, answer or item, and the role of each column."""
