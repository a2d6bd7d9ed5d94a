"""What a fit means to its reader: ranking, comparison, check, uncertainty."""
