"""Messages for a chat model, its answers, and the check of their citations."""
