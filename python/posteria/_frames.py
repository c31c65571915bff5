"""Predictions as a pandas frame."""

import pandas as pd

from ._posteria import PosteriaError


class Predictions(pd.DataFrame):
    """Predictions of rows; ``figures`` tell how good they are where the targets are known."""

    _metadata = ["figures"]
    figures = None
    #: The fit and the rows; parts and copies of the frame do not have them.
    _source = None

    def samples(self, draws=None):
        """New targets at the same rows: an array of draw and row."""
        if self._source is None:
            if "stacking" in (self.figures or {}):
                raise PosteriaError("samples take all draws alike, and chains=\"stacked\" does not")
            raise PosteriaError("only the frame that predict gave has samples; use fit.samples(new)")
        fitted, table = self._source
        return fitted._samples(table, draws)
