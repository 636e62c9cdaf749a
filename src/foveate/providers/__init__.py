"""Chat models, embedders and tokenizers, one vendor a file, imported at first use."""
