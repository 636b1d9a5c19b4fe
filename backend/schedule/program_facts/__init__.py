"""Facts about the phases of a program that planners and verifiers share: partitioning into boxes and scratch memory."""
