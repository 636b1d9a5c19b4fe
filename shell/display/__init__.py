"""What people read: values, costs, plans and documentation as text, and the line about long work."""
