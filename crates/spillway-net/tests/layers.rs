//! Rooms use only rooms below them, in the order that docs/architecture.md shows.

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of this crate, from the bottom. Rooms of one line do not use each other. `testing` is
/// what unit tests of all rooms use.
const ORDER: &[&[&str]] = &[
    &["event", "extensions"],
    &["scenario"],
    &["port", "record", "facts", "results", "schema"],
    &["network"],
    &["host"],
    &["simulation"],
    &["summary"],
    &["testing"],
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The room of a file, as in `host` of `src/host/ends.rs`.
fn room_of(file: &Path, src: &Path) -> String {
    let first = file.strip_prefix(src).unwrap().iter().next().unwrap();
    first.to_str().unwrap().trim_end_matches(".rs").to_string()
}

/// The rooms that a text names by their paths in the crate.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("crate::").skip(1);
    after.map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
}

/// The arrows that go up or across, as `room -> room`.
fn wrong(room: &str, text: &str) -> Vec<String> {
    let level = |room: &str| ORDER.iter().position(|level| level.contains(&room));
    let may = |other: &str| {
        other == room
            || other == "testing"
            || level(other).is_some_and(|below| level(room).is_some_and(|own| below < own))
    };
    named(text).filter(|other| !may(other)).map(|other| format!("{room} -> {other}")).collect()
}

#[test]
fn no_room_uses_a_room_above_it() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in files(&src) {
        let room = room_of(&file, &src);
        if room != "lib" {
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(wrong(&room, &text), [] as [String; 0], "{}", file.display());
        }
    }
}

#[test]
fn arrows_up_and_across_and_to_unknown_rooms_are_found() {
    assert_eq!(wrong("host", "use crate::network::Network; crate::record::Repairs"), [""; 0]);
    assert_eq!(wrong("network", "x: crate::host::Ends"), ["network -> host"]);
    assert_eq!(wrong("port", "use crate::{event, record::X};"), ["port -> "]);
    assert_eq!(wrong("port", "use crate::record::X;"), ["port -> record"]);
    assert_eq!(wrong("attic", "use crate::event::Kind;"), ["attic -> event"]);
}
