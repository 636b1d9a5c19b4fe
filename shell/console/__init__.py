"""Standard streams, messages, usage errors, exit codes and signals, which every part of the shell uses."""
