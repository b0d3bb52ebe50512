//! Reading whole files.

use std::fs::{self, File};
use std::io::{Error, Read, Result};
use std::path::Path;

/// The most bytes that are read. The values made of them take several times as much memory.
const MOST: u64 = 1_000_000_000;

/// The bytes of a file.
///
/// # Errors
/// If it cannot be read, is too large, or is not a file but a folder, a pipe or a device, which may
/// never end.
pub fn read_whole(path: &Path) -> Result<Vec<u8>> {
    read_within(path, MOST)
}

/// The text of a file.
///
/// # Errors
/// As for the bytes, and if they are not text.
pub fn read_whole_text(path: &Path) -> Result<String> {
    String::from_utf8(read_whole(path)?).map_err(|_| Error::other("it is not text in UTF-8"))
}

fn read_within(path: &Path, most: u64) -> Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        Ok(bytes)
    } else {
        Err(Error::other(format!("it has more than {most} bytes")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_ends_or_is_too_large_is_not_read() {
        let folder = std::env::temp_dir().join(format!("spillway-whole-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a");
        fs::write(&path, b"0123456789\xff").unwrap();
        let why = |read: Result<Vec<u8>>| read.unwrap_err().to_string();
        assert_eq!(read_within(&path, 11).unwrap().len(), 11);
        assert_eq!(why(read_within(&path, 10)), "it has more than 10 bytes");
        assert_eq!(read_whole_text(&path).unwrap_err().to_string(), "it is not text in UTF-8");
        assert_eq!(why(read_whole(&folder)), "it is not a file");
        assert!(why(read_whole(&folder.join("b"))).starts_with("No such file"));
        fs::remove_dir_all(&folder).unwrap();
        #[cfg(unix)]
        assert_eq!(why(read_whole(Path::new("/dev/zero"))), "it is not a file");
    }
}
