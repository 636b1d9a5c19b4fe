"""Plans run by several processes: home as a client, workers of a Dask cluster, and the messages between them."""
