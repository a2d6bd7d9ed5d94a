"""What a fit tells its reader: ranking, comparison, check, uncertainty."""
