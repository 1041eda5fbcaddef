"""What can be wrong with the surroundings, as sentences that say what to do."""


class EmbeddedError(Exception):
    """The embedded services cannot run here; the message is a sentence for the person at the terminal."""
