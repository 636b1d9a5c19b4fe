"""What every part of the shell writes to and ends with: standard streams, messages, usage errors, exit codes and signals."""
