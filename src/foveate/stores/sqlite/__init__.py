"""The embedded store: one folder with SQLite and an exact int8 scan."""
