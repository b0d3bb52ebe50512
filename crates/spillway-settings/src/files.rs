//! The files that a scenario names.

use crate::whole::read_whole;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Files, looked for in a scenario's folder. Each is read once, so that all who ask for it see the
/// same, however long a run takes.
#[derive(Clone, Debug, Default)]
pub struct Files {
    folder: PathBuf,
    known: Arc<Mutex<BTreeMap<String, Arc<[u8]>>>>,
}

impl Files {
    /// Those of a folder.
    pub fn of(folder: impl Into<PathBuf>) -> Files {
        Files { folder: folder.into(), known: Arc::default() }
    }

    /// Has somebody else's version of a file.
    pub fn insert(&self, name: &str, bytes: Vec<u8>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(name.to_string(), bytes.into());
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(&self, name: &str) -> io::Result<Arc<[u8]>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = known.get(name) {
            return Ok(bytes.clone());
        }
        let bytes: Arc<[u8]> = read_whole(&self.folder.join(name))?.into();
        known.insert(name.to_string(), bytes.clone());
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once() {
        let folder = std::env::temp_dir().join(format!("spillway-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("a"), "before").unwrap();
        let files = Files::of(&folder);
        assert_eq!(&*files.read("a").unwrap(), b"before");
        std::fs::write(folder.join("a"), "after").unwrap();
        assert_eq!(&*files.clone().read("a").unwrap(), b"before");
        assert_eq!(files.read("b").unwrap_err().kind(), io::ErrorKind::NotFound);
        files.insert("b", b"given".to_vec());
        assert_eq!(&*files.read("b").unwrap(), b"given");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
