"""Responses: users, items, options, and how tables become codes."""
