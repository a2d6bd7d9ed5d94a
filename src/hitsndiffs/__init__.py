"""Find out who is good, and what is right, from answers alone, with no answer key."""
