"""Tools for agents over the Model Context Protocol: assemble, search and check an answer.

`calls` declares the tools and does their work, for any transport: `stdio` serves the process that
started us, `http` the callers of the service.
"""
