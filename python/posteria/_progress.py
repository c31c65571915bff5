"""Show how far long work is."""

import sys


def shower(progress):
    """What the library tells how far it is; ``None`` if nobody looks.

    ``progress`` is ``True``, ``False``, or ``None`` for a bar where somebody can see it.
    """
    if progress is None:
        progress = sys.stderr.isatty() or "ipykernel" in sys.modules
    return _Bar() if progress else None


class _Bar:
    """A bar per piece of work."""

    def __init__(self):
        self.bar = None
        self.what = None

    def __call__(self, what, done, total, ess, goal):
        if what is None:
            self._close()
            return
        if what != self.what:
            self._close()
            # Loaded late: most work is over before anybody could see a bar.
            from tqdm.auto import tqdm

            self.what = what
            self.bar = tqdm(total=total, desc=what, leave=False, dynamic_ncols=True)
        self.bar.total = total
        if ess is not None:
            self.bar.set_postfix_str(f"{ess:.0f} of {goal:.0f} effective draws", refresh=False)
        self.bar.update(done - self.bar.n)

    def _close(self):
        if self.bar is not None:
            self.bar.close()
        self.bar = self.what = None
