"""Models for items that share their labels: leaning is a nuisance in all of them."""
