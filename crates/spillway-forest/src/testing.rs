//! Files made for tests.

use crate::checksum;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, serialize};
use std::collections::BTreeMap;

/// An array of a file.
#[derive(Clone)]
pub struct Array {
    pub name: &'static str,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub data: Vec<u8>,
}

pub fn doubles(name: &'static str, numbers: &[f64]) -> Array {
    let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Array { name, dtype: Dtype::F64, shape: vec![numbers.len()], data }
}

pub fn whole(name: &'static str, numbers: &[u32]) -> Array {
    let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Array { name, dtype: Dtype::U32, shape: vec![numbers.len()], data }
}

pub fn signed(name: &'static str, numbers: &[i32]) -> Array {
    let data = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Array { name, dtype: Dtype::I32, shape: vec![numbers.len()], data }
}

/// A file with these arrays and metadata, and a right checksum. `change` may modify the metadata.
pub fn written(
    arrays: &[Array],
    told: &[(&str, &str)],
    change: impl Fn(&mut BTreeMap<String, String>),
) -> Vec<u8> {
    let write = |metadata: BTreeMap<String, String>| {
        let views = arrays.iter().map(|Array { name, dtype, shape, data }| {
            (*name, TensorView::new(*dtype, shape.clone(), data).unwrap())
        });
        serialize(views, Some(metadata.into_iter().collect())).unwrap()
    };
    let own = [("format", "spillway-forest"), ("version", "2"), ("crc32", "00000000")];
    let pairs = own.iter().chain(told);
    let mut metadata = pairs.map(|(key, value)| (key.to_string(), value.to_string())).collect();
    change(&mut metadata);
    let mut bytes = write(metadata);
    if let Some((place, sum)) = checksum(&bytes) {
        bytes[place].copy_from_slice(sum.as_bytes());
    }
    bytes
}
