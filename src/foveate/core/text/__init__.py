"""String algorithms that know no candidates."""
