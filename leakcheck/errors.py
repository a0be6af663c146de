"""The one exception for what the user can mend."""


class LeakcheckError(Exception):
    """Something the user gave cannot be used.

    Parameters
    ----------
    message : str
        One sentence that says what is wrong.
    file : str, optional
        The file that holds the fault.
    place : str, optional
        Row, line, cell or key inside the file, in words (``"row 12"``, ``"line 3"``).
    expected, found : str, optional
        What was expected there, and what stood there.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        place: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        self.message = message
        self.file = file
        self.place = place
        self.expected = expected
        self.found = found
        super().__init__(str(self))

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.file, self.place) if part)
        text = f"{where}: {self.message}" if where else self.message
        if self.expected is not None:
            text += f" (expected {self.expected}"
            text += f", found {self.found})" if self.found is not None else ")"
        elif self.found is not None:
            text += f" (found {self.found})"
        return text
