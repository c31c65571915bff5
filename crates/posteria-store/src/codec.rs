//! Write and read the primitive values of a checkpoint; every length is checked before use.

use crate::error::StoreError;

/// Appends little-endian values.
pub(crate) trait Encode {
    fn put_u8(&mut self, value: u8);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    fn put_count(&mut self, value: usize);
    fn put_text(&mut self, value: &str);
    fn put_floats(&mut self, values: &[f64]);
}

impl Encode for Vec<u8> {
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_count(&mut self, value: usize) {
        self.put_u64(value as u64);
    }

    fn put_text(&mut self, value: &str) {
        self.put_count(value.len());
        self.extend_from_slice(value.as_bytes());
    }

    fn put_floats(&mut self, values: &[f64]) {
        self.put_count(values.len());
        self.reserve(values.len() * 8);
        for value in values {
            self.extend_from_slice(&value.to_bits().to_le_bytes());
        }
    }
}

/// Reads what [`Encode`] wrote. Nothing is allocated before the bytes for it are there.
pub(crate) struct Decoder<'a> {
    file: &'static str,
    rest: &'a [u8],
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(file: &'static str, bytes: &'a [u8]) -> Self {
        Decoder { file, rest: bytes }
    }

    pub(crate) fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::damaged(self.file, what)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn bytes(&mut self, count: usize, what: &str) -> Result<&'a [u8], StoreError> {
        let (bytes, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or_else(|| self.damaged(format!("{what} goes beyond the end of the file")))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], StoreError> {
        let bytes = self.bytes(N, what)?;
        Ok(bytes.try_into().expect("as many bytes as asked for"))
    }

    pub(crate) fn u8(&mut self, what: &str) -> Result<u8, StoreError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn flag(&mut self, what: &str) -> Result<bool, StoreError> {
        match self.u8(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(self.damaged(format!("{what} is {other}, neither 0 nor 1"))),
        }
    }

    pub(crate) fn u32(&mut self, what: &str) -> Result<u32, StoreError> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &str) -> Result<u64, StoreError> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A number that nothing is allocated from.
    pub(crate) fn number(&mut self, what: &str) -> Result<usize, StoreError> {
        let value = self.u64(what)?;
        usize::try_from(value)
            .map_err(|_| self.damaged(format!("{what} is {value}, beyond this machine")))
    }

    /// A number of items of at least `least` bytes each, which must follow.
    pub(crate) fn count(&mut self, least: usize, what: &str) -> Result<usize, StoreError> {
        let count = self.number(what)?;
        match count.checked_mul(least) {
            Some(bytes) if bytes <= self.rest.len() => Ok(count),
            _ => Err(self.damaged(format!(
                "{what} is {count}, more than the {} bytes that follow can hold",
                self.rest.len()
            ))),
        }
    }

    pub(crate) fn text(&mut self, what: &str) -> Result<String, StoreError> {
        let length = self.count(1, what)?;
        let bytes = self.bytes(length, what)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|_| self.damaged(format!("{what} is not UTF-8 text")))?;
        Ok(text.to_owned())
    }

    pub(crate) fn floats(&mut self, what: &str) -> Result<Vec<f64>, StoreError> {
        let count = self.count(8, what)?;
        Ok(self.bytes(count * 8, what)?.chunks_exact(8).map(float).collect())
    }
}

/// The float in eight little-endian bytes.
pub(crate) fn float(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_bit_for_bit() {
        let mut bytes = Vec::new();
        let floats = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE / 8.0, 1.0 / 3.0];
        bytes.put_text("größe");
        bytes.put_floats(&floats);
        bytes.put_u64(u64::MAX);
        bytes.put_u8(1);
        let mut decoder = Decoder::new("checkpoint", &bytes);
        assert_eq!(decoder.text("text").unwrap(), "größe");
        let back = decoder.floats("floats").unwrap();
        assert!(back.iter().zip(floats).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(decoder.u64("number").unwrap(), u64::MAX);
        assert!(decoder.flag("flag").unwrap());
        assert!(decoder.is_empty());
    }

    #[test]
    fn lengths_beyond_the_file_are_refused_before_allocating() {
        for count in [3, 1 << 32, 1 << 61, u64::MAX] {
            let mut bytes = Vec::new();
            bytes.put_u64(count);
            bytes.extend_from_slice(&[0; 16]);
            let error = Decoder::new("checkpoint", &bytes).floats("state").unwrap_err();
            assert!(error.to_string().contains("state"), "{error}");
        }
    }
}
