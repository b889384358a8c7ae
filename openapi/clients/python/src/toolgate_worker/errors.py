"""What a tool service says went wrong."""


class ToolError(Exception):
    """A failure with a type that Toolgate knows: timeout, rate-limit, unavailable, auth, quota, invalid-arguments.

    Any other type is a failure of the tool.
    """

    def __init__(self, type: str, message: str) -> None:
        super().__init__(message)
        self.type = type
        self.message = message
