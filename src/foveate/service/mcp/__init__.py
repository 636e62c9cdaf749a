"""Tools for agents over the Model Context Protocol: assemble, search and check an answer.

`calls` does the work for a `ToolContext`, for any transport: `stdio` serves the process that
started us, `http` the callers of the service.
"""
