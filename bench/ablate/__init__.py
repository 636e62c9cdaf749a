"""Each rule, trait, option and constant of the decision, switched off or moved in turn."""
