"""One file for each family of endpoints."""
