"""What to be careful about, as Python warnings."""

import os
import sys
import warnings

#: Files of the package, and of what calls it on a user's behalf.
_OWN = (os.path.dirname(__file__), f"{os.sep}sklearn{os.sep}")


class PosteriaWarning(UserWarning):
    """Something about data or results that is worth knowing."""


class ConvergenceWarning(PosteriaWarning):
    """A reason not to trust the draws; says what to do about it."""


def tell(text, category=PosteriaWarning) -> None:
    """Warn at the line of the user's that asked."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and any(own in frame.f_code.co_filename for own in _OWN):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def warn(found) -> None:
    """Warn of everything in ``found``, entries with the keys of the JSON."""
    for entry in found:
        tell(words(entry))


def warn_of_draws(found, *, see="fit.diagnose()") -> None:
    """Warn once if predictions rest on doubtful draws: the first reason, and how many more there are."""
    doubts = [entry for entry in found if entry["doubt"] and entry["of_predictions"]]
    if doubts:
        more = len(doubts) - 1
        rest = f" (and {more} more: see {see})" if more else ""
        tell(words(doubts[0]) + rest, ConvergenceWarning)


def words(entry) -> str:
    """What is wrong and what to do about it, in one line."""
    about = f"{entry['run']}: " if entry.get("run") else ""
    return about + entry["message"] + (f"; {entry['cure']}" if entry.get("cure") else "")
