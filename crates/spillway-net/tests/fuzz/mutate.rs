//! Nearly valid inputs: valid ones with a few changes.

use spillway_engine::Stream;

/// Tokens that readers may stumble over.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1",
    "64",
    "255",
    "4294967295",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999999999999999999",
    "0.0",
    "-0.0",
    "1e308",
    "1e-308",
    "inf",
    "nan",
    "0.5",
    "\"\"",
    "\"0us\"",
    "\"1ps\"",
    "\"4000000s\"",
    "\"0B\"",
    "\"1B\"",
    "\"9007199254740992B\"",
    "\"0pkt\"",
    "\"100%\"",
    "\"1bdp\"",
    "\"8bps\"",
    "\"8Tbps\"",
    "\"unlimited\"",
    "\"flow\"",
    "\"0..3\"",
    "true",
    "[]",
    "{}",
    "[[",
    "]]",
    "{",
    "}",
    "\n",
    "\r\n",
    ",",
    ".",
    "=",
    "\"",
    "#",
    " ",
    "\t",
    "\u{feff}",
    "\u{0}",
    "é",
    "\u{1b}[31m",
    "a.a.a.a.a",
    "[traffic]\n",
    "[[traffic]]\n",
    "[switch]\n",
    "name",
    "kind",
    ":",
    "null",
];

/// A number below `n`, which is above 0.
fn below(random: &mut Stream, n: usize) -> usize {
    random.below(n as u64) as usize
}

/// One of several.
pub fn one<'a, T: ?Sized>(random: &mut Stream, of: &[&'a T]) -> &'a T {
    of[below(random, of.len())]
}

/// One of the inputs with one to eight changes; now and then with none.
pub fn mutated(random: &mut Stream, seeds: &[&[u8]]) -> Vec<u8> {
    let mut bytes = one(random, seeds).to_vec();
    for _ in 0..below(random, 9) {
        let other = one(random, seeds);
        change(random, &mut bytes, other);
    }
    bytes
}

/// A position, and the end of a short piece that begins there.
fn piece(random: &mut Stream, bytes: &[u8]) -> (usize, usize) {
    let start = below(random, bytes.len() + 1);
    let most = 1 << below(random, 8);
    (start, (start + below(random, most) + 1).min(bytes.len()))
}

fn change(random: &mut Stream, bytes: &mut Vec<u8>, other: &[u8]) {
    let (start, end) = piece(random, bytes);
    match below(random, 10) {
        0 if start < bytes.len() => bytes[start] ^= 1 << below(random, 8),
        1 if start < bytes.len() => bytes[start] = random.below(256) as u8,
        2 => drop(bytes.drain(start..end)),
        3 => bytes.truncate(start),
        4 => {
            let copy = bytes[start..end].to_vec();
            bytes.splice(start..start, copy);
        }
        5 => {
            let (from, to) = piece(random, other);
            bytes.splice(start..start, other[from..to].iter().copied());
        }
        6 => {
            let token = one(random, TOKENS);
            bytes.splice(start..start, token.bytes());
        }
        7 | 8 => change_number(random, bytes, start),
        _ => change_line(random, bytes, other, start),
    }
}

/// Changes the next number behind `start`, or the text between quotes.
fn change_number(random: &mut Stream, bytes: &mut Vec<u8>, start: usize) {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || *byte == b'.' || *byte == b'-';
    let Some(from) = bytes[start..].iter().position(u8::is_ascii_digit) else { return };
    let from = start + from;
    let length = bytes[from..].iter().position(|byte| !is_of_number(byte));
    let to = length.map_or(bytes.len(), |length| from + length);
    bytes.splice(from..to, one(random, TOKENS).bytes());
}

/// Repeats or removes a line, or inserts one from another input.
fn change_line(random: &mut Stream, bytes: &mut Vec<u8>, other: &[u8], start: usize) {
    let line_at = |bytes: &[u8], place: usize| {
        let start = bytes[..place].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let end = bytes[place..].iter().position(|&byte| byte == b'\n');
        (start, end.map_or(bytes.len(), |at| place + at + 1))
    };
    let (from, to) = line_at(bytes, start);
    match below(random, 3) {
        0 => drop(bytes.drain(from..to)),
        1 => {
            let line = bytes[from..to].to_vec();
            bytes.splice(from..from, line);
        }
        _ => {
            let place = below(random, other.len() + 1);
            let (first, last) = line_at(other, place);
            bytes.splice(from..from, other[first..last].iter().copied());
        }
    }
}
