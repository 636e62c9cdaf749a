"""The law suites for stages, formats and ports, and the fakes they run on; for plugin authors."""
