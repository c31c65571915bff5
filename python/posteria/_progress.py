"""Show how far long work is."""

import sys
import time

#: Seconds that work takes before anybody wants to see a bar.
PATIENCE = 1.0


def shower(progress):
    """What the library tells how far it is; ``None`` if nobody looks.

    ``progress`` is ``True``, ``False``, or ``None`` for a bar where somebody can see it.
    """
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    return _Bar() if progress else None


class _Bar:
    """A bar per piece of work that takes longer than a moment."""

    def __init__(self):
        self.bar = None
        self.what = None
        self.began = time.monotonic()

    def __call__(self, what, done, total, ess, goal):
        if what is None:
            self._close()
            return
        if what != self.what:
            self._close()
            self.what = what
        if self.bar is None:
            if time.monotonic() - self.began < PATIENCE:
                return
            self.bar = _tqdm()(total=total, initial=done, desc=what, leave=False)
        self.bar.total = total
        if ess is not None:
            self.bar.set_postfix_str(f"{ess:.0f} of {goal:.0f} effective draws", refresh=False)
        self.bar.update(done - self.bar.n)

    def _close(self):
        if self.bar is not None:
            self.bar.close()
        self.bar = self.what = None


def _tqdm():
    """The bar of notebooks where its widgets are installed, else that of terminals."""
    import tqdm

    if "ipykernel" in sys.modules:
        try:
            import ipywidgets  # noqa: F401
            import tqdm.notebook
        except ImportError:
            return tqdm.tqdm
        return tqdm.notebook.tqdm
    return tqdm.tqdm
