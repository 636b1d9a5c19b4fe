"""The command line: the table of verbs and options, their parser and help pages, and how a verb gives its results."""
