//! Includes the repository's scenarios in the module, so that their names work in any folder.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").canonicalize()?;
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut files: Vec<_> = fs::read_dir(&folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let mut rows = String::new();
    for file in &files {
        let name = file.file_stem().unwrap_or_default();
        let _ = writeln!(rows, "({name:?}, include_str!({:?})),", file.display().to_string());
    }
    let Some(out) = env::var_os("OUT_DIR") else { return Err(io::ErrorKind::NotFound.into()) };
    fs::write(Path::new(&out).join("bundled.rs"), format!("&[\n{rows}]\n"))
}
