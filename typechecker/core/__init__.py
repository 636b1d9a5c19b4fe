"""The typed core: its ops, blocks and programs, and the builder that makes them."""
