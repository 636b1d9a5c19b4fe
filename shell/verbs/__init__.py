"""One module a verb, imported when the verb is used; each has `run(arguments, console) -> Exit`."""
