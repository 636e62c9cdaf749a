"""Stretches of a text that have a shape: one shape a file, found by `find.find_shapes`."""
