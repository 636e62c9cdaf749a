"""One function over many values, in this process, in a pool of processes, or on Ray; in order.

Nothing of a scheduler is ours: queues, placement, retries and transport are Ray's, or those of
`concurrent.futures`. What is here bounds how much is under way and says what was lost.
"""
