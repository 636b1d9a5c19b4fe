"""Pictures of values for `rho run --plot`, `)plot` and notebooks: `charts` in characters, `figures` with matplotlib."""
