//! Keep numbers where vector loads never cross a cache line.

use std::ops::{Deref, DerefMut};

/// A fixed number of numbers whose first lies on a boundary of 64 bytes.
#[derive(Debug, Default)]
pub struct Buffer<T> {
    values: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// `len` default values.
    pub fn new(len: usize) -> Self {
        let spare = 64 / size_of::<T>().max(1);
        let values = vec![T::default(); len + spare];
        // The offset may be unknown (in interpreters); speed is all that is lost then.
        let start = values.as_ptr().align_offset(64).min(spare);
        Buffer { values, start, len }
    }
}

impl<T: Copy + Default> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut clone = Buffer::new(self.len);
        clone.copy_from_slice(self);
        clone
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..self.start + self.len]
    }
}
