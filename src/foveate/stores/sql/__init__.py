"""What the embedded store and the server store do alike: they keep the same rows in SQL."""
