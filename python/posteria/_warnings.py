"""What to be careful about, as Python warnings."""

import warnings


class PosteriaWarning(UserWarning):
    """Something about data or results that is worth knowing."""


class ConvergenceWarning(PosteriaWarning):
    """A reason not to trust the draws; says what to do about it."""


def warn(found, *, category=PosteriaWarning, stacklevel=3) -> None:
    """Warn of everything in ``found``, entries with the keys of the JSON."""
    for entry in found:
        warnings.warn(words(entry), category, stacklevel=stacklevel)


def warn_of_draws(found, *, stacklevel=3) -> None:
    """Warn once that draws are doubtful: the first reason, and how many more there are."""
    doubts = [entry for entry in found if entry["doubt"]]
    if doubts:
        more = len(doubts) - 1
        rest = f" (and {more} more: see fit.diagnose())" if more else ""
        warnings.warn(words(doubts[0]) + rest, ConvergenceWarning, stacklevel=stacklevel)


def words(entry) -> str:
    """What is wrong and what to do about it, in one line."""
    return entry["message"] + (f"; {entry['cure']}" if entry.get("cure") else "")
