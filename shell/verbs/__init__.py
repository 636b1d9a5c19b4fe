"""The commands of the verbs, imported when one is used; each is `NAME_command(arguments, console) -> Exit`."""
