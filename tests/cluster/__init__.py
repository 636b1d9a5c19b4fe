"""Plans on workers: residents in threads of the test's process, in processes of their own, and in Dask's workers."""
