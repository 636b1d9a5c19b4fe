"""Plans as data and as canonical JSON (`plan`, by one codec that types drive), and as text (`plan_text`)."""
