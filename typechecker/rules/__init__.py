"""The typing rule of every primitive function: what it needs, what shape it gives, and the core ops it means."""
