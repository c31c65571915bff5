"""Show how far long work is."""

import sys
import time

from ._options import checked_threads

#: Seconds that work takes before anybody wants to see a bar.
PATIENCE = 1.0


def working(threads, progress):
    """How long work is done: so many threads, and who is shown how far it is."""
    return checked_threads(threads), shower(progress)


def shower(progress):
    """What the library tells how far it is; ``None`` if nobody looks.

    ``progress`` is ``True``, ``False``, or ``None`` for a bar where somebody can see it.
    """
    if progress is None:
        progress = sys.stderr.isatty() or _in_notebook()
    return _Bar() if progress else None


def _in_notebook():
    """Whether a kernel runs this, and somebody may look at what it displays."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


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
            self.bar = _bar(total, done, what)
        self.bar.total = total
        if ess is not None:
            self.bar.set_postfix_str(f"{ess:.0f} of {goal:.0f} effective draws", refresh=False)
        self.bar.update(done - self.bar.n)

    def _close(self):
        if self.bar is not None:
            self.bar.close()
        self.bar = self.what = None


def _bar(total, done, what):
    from tqdm import tqdm

    if _in_notebook():
        return _NotebookBar(total, what)
    return tqdm(total=total, initial=done, desc=what, leave=False)


class _NotebookBar:
    """A line below the cell that is written anew, and gone in the end: no widgets are needed."""

    def __init__(self, total, what):
        from IPython.display import HTML, display

        self.total, self.n, self.what, self.postfix = total, 0, what, ""
        self.began, self.html = time.monotonic(), HTML
        self.handle = display(HTML(""), display_id=True)

    def set_postfix_str(self, text, refresh):
        self.postfix = text

    def update(self, more):
        from tqdm import tqdm

        self.n += more
        elapsed = time.monotonic() - self.began
        line = tqdm.format_meter(
            self.n, self.total, elapsed, prefix=self.what, postfix=self.postfix, ncols=100
        )
        self.handle.update(self.html(f"<pre>{line}</pre>"))

    def close(self):
        self.handle.update(self.html(""))
