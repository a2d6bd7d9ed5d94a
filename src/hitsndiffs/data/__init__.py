"""Responses: users, items and options, and how tables become codes."""
