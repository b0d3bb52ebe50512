//! Runs random cases for a number of seconds.
//!
//! `FUZZ_SECONDS` is that number (default 10), `FUZZ_SEED` the seed (default: any), and `FUZZ_CASE`
//! the number of a single case to repeat. A failure is reported with seed and case, and its input
//! is left in the folder for temporary files.

use spillway_engine::Stream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A case takes milliseconds. One that takes this long never ends.
const HANG: Duration = Duration::from_secs(60);
/// A reader needs little more memory than its input, or the network that it builds.
const MOST_MEMORY_KB: u64 = 4_000_000;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a whole number")))
}

/// A seed that differs each time.
fn any_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish() >> 16
}

/// The most memory that this process has held, if it can be known.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Gives a reader one random input of `make` after the other. `read` returns whether the input was
/// valid.
pub fn fuzz(name: &str, make: impl Fn(&mut Stream) -> Vec<u8>, read: impl Fn(&[u8]) -> bool) {
    let seed = number("FUZZ_SEED").unwrap_or_else(any_seed);
    let only = number("FUZZ_CASE");
    let limit = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(10));
    println!("{name}: seed {seed}");
    let case = AtomicU64::new(only.unwrap_or(0));
    let shown = || format!("{name}: FUZZ_SEED={seed} FUZZ_CASE={}", case.load(Ordering::Relaxed));
    let is_over = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut seen, mut since) = (u64::MAX, Instant::now());
            while is_over.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(50));
                let now = case.load(Ordering::Relaxed);
                if now != seen {
                    (seen, since) = (now, Instant::now());
                } else if since.elapsed() > HANG && only.is_none() {
                    eprintln!("{} does not end", shown());
                    std::process::abort();
                }
            }
        });
        let begin = Instant::now();
        let (mut cases, mut valid) = (0, 0);
        while begin.elapsed() < limit {
            let number = case.load(Ordering::Relaxed);
            let input = make(&mut Stream::new(seed, name, number));
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&input)));
            let memory =
                peak_kb().filter(|_| number.is_multiple_of(64) || only.is_some()).unwrap_or(0);
            if outcome.is_err() || memory > MOST_MEMORY_KB {
                is_over.store(1, Ordering::Relaxed);
                let kept = keep(name, &input);
                panic!("{} ({memory} kB): {}", shown(), kept.display());
            }
            cases += 1;
            valid += u64::from(outcome.is_ok_and(|valid| valid));
            if only.is_some() {
                break;
            }
            case.fetch_add(1, Ordering::Relaxed);
        }
        is_over.store(1, Ordering::Relaxed);
        println!("{name}: {cases} cases, {valid} of them valid");
        assert!(only.is_some() || valid > 0, "{name}: a reader that accepts nothing is not tested");
    });
}

fn keep(name: &str, input: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("spillway-fuzz-{name}"));
    std::fs::write(&path, input).expect("the folder for temporary files can be written");
    path
}
