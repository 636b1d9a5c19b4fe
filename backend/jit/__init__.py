"""Machine code of kernels: compiling, caching, and the policy that decides when to compile."""
