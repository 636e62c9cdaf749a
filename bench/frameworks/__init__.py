"""The frameworks with and without assembly: one retriever, one budget, golden questions."""
