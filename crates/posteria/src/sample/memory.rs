//! Read back, in order, what a kernel wrote into its memory.

/// A cursor over a kernel's memory.
pub(super) struct Recollection<'m> {
    rest: &'m [f64],
}

impl<'m> Recollection<'m> {
    pub(super) fn new(memory: &'m [f64]) -> Self {
        Recollection { rest: memory }
    }

    /// The next value.
    ///
    /// # Panics
    /// If the memory is too short: it was written by another kind of kernel.
    pub(super) fn value(&mut self) -> f64 {
        self.slice(1)[0]
    }

    /// The next `count` values.
    pub(super) fn slice(&mut self, count: usize) -> &'m [f64] {
        assert!(count <= self.rest.len(), "memory of another kernel");
        let (values, rest) = self.rest.split_at(count);
        self.rest = rest;
        values
    }

    /// Overwrites `values` with the next ones.
    pub(super) fn fill(&mut self, values: &mut [f64]) {
        values.copy_from_slice(self.slice(values.len()));
    }

    /// Checks that everything was read.
    pub(super) fn finish(self) {
        assert!(self.rest.is_empty(), "memory of another kernel");
    }
}
