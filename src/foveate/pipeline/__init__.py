"""From a question to its context: options, search, rerank, neighbours, assemble, cache."""
