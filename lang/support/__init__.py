"""What every room uses: files, caches, processes, records, and parsing of untrusted text with limits."""
