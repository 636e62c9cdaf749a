"""Tools for agents: assemble, search and check an answer, over the Model Context Protocol.

The tools know no transport: `calls` does the work for a `Desk`, which holds a store and who asks.
`stdio` serves them to the process that started us, `http` to the callers of the service.
"""
