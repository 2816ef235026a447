"""What ends a command, as sentences for its user."""


class ClusterError(Exception):
    """The run cannot go on now; the message says why and, where known, what to do. Exit status 1."""


class BadInput(ClusterError):
    """What the user gave cannot be used. Exit status 2."""


class Interrupted(ClusterError):
    """Somebody asked to stop. Exit status 130."""
