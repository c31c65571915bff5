//! Read back what a kernel wrote as its memory.

/// Takes the parts of a memory in the order in which they were written.
pub(super) struct MemoryReader<'a> {
    owner: &'a str,
    rest: &'a [f64],
}

impl<'a> MemoryReader<'a> {
    pub(super) fn new(owner: &'a str, memory: &'a [f64]) -> Self {
        MemoryReader { owner, rest: memory }
    }

    /// The next `count` numbers.
    #[track_caller]
    pub(super) fn take(&mut self, count: usize) -> &'a [f64] {
        assert!(count <= self.rest.len(), "the memory is not one of {}", self.owner);
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }

    #[track_caller]
    pub(super) fn number(&mut self) -> f64 {
        self.take(1)[0]
    }

    /// A count, which was stored as an exact float.
    #[track_caller]
    pub(super) fn count(&mut self) -> usize {
        let value = self.number();
        assert!(
            value >= 0.0 && value.fract().abs() < f64::MIN_POSITIVE,
            "the memory is not one of {}",
            self.owner
        );
        value as usize
    }

    /// Overwrites `values` with the next numbers.
    #[track_caller]
    pub(super) fn fill(&mut self, values: &mut [f64]) {
        values.copy_from_slice(self.take(values.len()));
    }

    #[track_caller]
    pub(super) fn flag(&mut self) -> bool {
        self.count() != 0
    }

    /// Ends the reading: nothing may be left over.
    #[track_caller]
    pub(super) fn finish(self) {
        assert!(self.rest.is_empty(), "the memory is not one of {}", self.owner);
    }
}
