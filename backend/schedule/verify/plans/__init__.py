"""Plans of a program judged by following their queues."""
