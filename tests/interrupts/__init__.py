"""Work that is stopped: by Ctrl-C, by `--max-time`, in a process, a session and a call from Python."""
