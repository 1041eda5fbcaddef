"""The error for problems of the machine, with a message that says what to do."""


class EmbeddedError(Exception):
    """The embedded services cannot run here; the message is a sentence for the person at the terminal."""
