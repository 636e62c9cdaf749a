"""The playground: a page that shows why a model was shown what it was shown."""
