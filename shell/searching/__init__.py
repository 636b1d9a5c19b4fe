"""Search for functions by words and by type (`rho search`, `)search`), and completion of names.

`catalogue` has the entries, with names from NumPy, JAX, Futhark and other APLs, and ranks them for words; `type_match` ranks
them for a type; `results` has the answers and the completions. """
