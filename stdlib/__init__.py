"""The standard library: one `.rho` file a module, used by `use name`."""
