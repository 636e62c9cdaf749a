"""The outside, one thing a file; vendors are imported where they are used."""
