"""Commands of the audit: the line of each in the help.  Each is in its own module, which is imported when it is called."""

#: Read by ``fastcube``, through the entry point of the group ``fastcube.commands``.
COMMANDS = {
    "claims": "Decide the papers' claims by code.",
    "reproduce": "Measure and decide everything that the papers print.",
}
