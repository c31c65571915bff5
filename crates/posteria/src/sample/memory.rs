//! Read back what a kernel wrote as its memory.

/// A memory that was not written by the kernel that is to recall it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the memory was not written by {owner} on the same target")]
pub struct ForeignMemory {
    /// The kernel or update that was to recall it.
    pub owner: &'static str,
}

/// Takes the parts of a memory in the order in which they were written. Nothing is trusted: a
/// memory may come from a damaged or forged checkpoint.
pub(crate) struct MemoryReader<'a> {
    owner: &'static str,
    rest: &'a [f64],
}

impl<'a> MemoryReader<'a> {
    pub(crate) fn new(owner: &'static str, memory: &'a [f64]) -> Self {
        MemoryReader { owner, rest: memory }
    }

    pub(crate) fn foreign(&self) -> ForeignMemory {
        ForeignMemory { owner: self.owner }
    }

    /// The next `count` numbers.
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [f64], ForeignMemory> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(self.foreign())?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<f64, ForeignMemory> {
        Ok(self.take(1)?[0])
    }

    /// A count, which was stored as an exact float.
    pub(crate) fn count(&mut self) -> Result<usize, ForeignMemory> {
        let value = self.number()?;
        let whole = value >= 0.0 && value.fract().abs() < f64::MIN_POSITIVE;
        if whole { Ok(value as usize) } else { Err(self.foreign()) }
    }

    pub(crate) fn flag(&mut self) -> Result<bool, ForeignMemory> {
        Ok(self.count()? != 0)
    }

    /// Overwrites `values` with the next numbers.
    pub(crate) fn fill(&mut self, values: &mut [f64]) -> Result<(), ForeignMemory> {
        values.copy_from_slice(self.take(values.len())?);
        Ok(())
    }

    /// Ends the reading: nothing may be left over.
    pub(crate) fn finish(self) -> Result<(), ForeignMemory> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.foreign()) }
    }
}

/// Checks that a kernel without memory is given none.
pub(super) fn expect_none(owner: &'static str, memory: &[f64]) -> Result<(), ForeignMemory> {
    MemoryReader::new(owner, memory).finish()
}
