"""Which layer of a retrieval pipeline lost what a question needed (SPEC E4)."""
