"""Components for LangChain, LlamaIndex and Haystack; a context as tables."""
