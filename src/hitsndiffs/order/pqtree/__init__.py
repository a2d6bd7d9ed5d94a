"""PQ-trees: all orders that keep some sets consecutive."""
