"""Maps a function over values in order: in this process, in a pool of processes, or on Ray."""
