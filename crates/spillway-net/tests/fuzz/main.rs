//! Readers of data are given nearly valid inputs. They must return a value or an error, in bounded
//! time and memory, and never panic.
//!
//! Every test runs for a given time ([`driver`]): 5 s in `make test-slow`, longer in `make fuzz`.

#![allow(clippy::unwrap_used)]

mod driver;
mod mutate;

use driver::fuzz;
use mutate::{mutated, one};
use spillway_engine::Stream;
use spillway_forest::{Forest, Regressor, checksum};
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_settings::{apply, parse, quantity};
use spillway_traffic::FlowColumns;
use std::path::{Path, PathBuf};

/// A private folder for files.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("spillway-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The files with this ending in a folder of the repository.
fn bundled(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == ending)).collect();
    files.sort();
    assert!(!files.is_empty());
    files.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

fn slices(files: &[Vec<u8>]) -> Vec<&[u8]> {
    files.iter().map(Vec::as_slice).collect()
}

/// A small scenario around a section, which may name `file` in a folder.
fn around(more: &str) -> String {
    format!(
        "duration = \"20us\"\ntransport = {{ kind = \"udp\" }}\nlimits.memory = \"50MB\"\n{more}\n\
         [topology]\nkind = \"star\"\nhosts = 4\n"
    )
}

/// Reads a scenario and runs it for a moment. Returns whether it is valid.
fn read_and_run(text: &str, folder: &Path) -> bool {
    let Ok(given) = parse(text) else { return false };
    let Ok(scenario) = Scenario::read(given, &Sources::of(folder)) else { return false };
    let resolved = scenario.resolved.to_string();
    let again = Scenario::read(parse(&resolved).unwrap(), &Sources::of(folder));
    assert_eq!(again.unwrap().resolved.to_string(), resolved);
    if scenario.topology.hosts() > 1000 {
        return true;
    }
    let mut simulation = Simulation::new(scenario);
    if simulation.run(2000) != Progress::Running {
        simulation.finish();
    }
    assert!(simulation.is_conserved());
    true
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn scenarios() {
    let files = bundled("scenarios", "toml");
    let small =
        around("[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"9KB\"").into_bytes();
    let mut seeds = slices(&files);
    seeds.extend([&small[..]; 8]);
    let folder = Folder::new("fuzz-scenarios");
    fuzz(
        "scenarios",
        |random| mutated(random, &seeds),
        |bytes| std::str::from_utf8(bytes).is_ok_and(|text| read_and_run(text, &folder.0)),
    );
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn assignments() {
    let small = around("[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"9KB\"");
    let seeds: [&[u8]; 6] = [
        b"switch.sharing=dt",
        b"switch.sharing.alpha=[1, 2]",
        b"traffic.a.size=20KB",
        b"topology={ kind = \"leaf-spine\", leaves = 2 }",
        b"record.windows=[0, 1]",
        b"transport.kind=timely",
    ];
    fuzz(
        "assignments",
        |random| mutated(random, &seeds),
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let mut given = parse(&small).unwrap();
            let is_applied = apply(&mut given, &text).is_ok();
            is_applied && Scenario::read(given, &Sources::of(Path::new("/nowhere"))).is_ok()
        },
    );
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn quantities() {
    let seeds: [&[u8]; 8] = [
        b"25.2us",
        b"10Gbps",
        b"5.12KB/port/Gbps",
        b"65pkt",
        b"1.5bdp",
        b"50%",
        b"1KiB",
        b"unlimited",
    ];
    fuzz(
        "quantities",
        |random| mutated(random, &seeds),
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let rate = quantity::rate("10Gbps").unwrap();
            let buffer = quantity::BufferSize::parse(&text);
            let bytes = buffer.and_then(|size| size.bytes([rate; 100].into_iter()));
            let part = quantity::BufferPart::parse(&text).map(|part| part.bytes(u64::MAX));
            let bdp = quantity::BdpSize::parse(&text);
            let bdp = bdp.map(|size| size.bytes(rate, quantity::LONGEST));
            assert!(bdp.is_none_or(|bytes| bytes <= quantity::MOST_BYTES));
            let found = [bytes, part, bdp, quantity::time(&text).map(|time| time.ps())];
            quantity::excess(&text).is_none() && found.iter().any(Option::is_some)
        },
    );
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn lists_of_flows() {
    let seeds: [&[u8]; 3] = [
        b"src,dst,size_bytes,start_ns\n0,1,1000,0\n1,2,500,3000\n3,0,70,9000\n",
        b"flow_id,src,dst,size_bytes,start_ps,class,priority,path,ack_path,query_id\n\
          0,0,1,9000,0,web,,3,,\n1,1,2,1,5,query,1,,2,0\n2,2,1,1,5,query,1,,2,0\n",
        b"dst,src,start_ns,\"class\",size_bytes\r\n2,1,0,\"a\",20\r\n1,3,10.0,\"b\",1448\r\n",
    ];
    let folder = Folder::new("fuzz-lists");
    let text = around("[[traffic]]\nname = \"a\"\nkind = \"flows\"\nfile = \"list.csv\"");
    fuzz(
        "lists",
        |random| mutated(random, &seeds),
        |bytes| {
            std::fs::write(folder.0.join("list.csv"), bytes).unwrap();
            read_and_run(&text, &folder.0)
        },
    );
}

/// What Python may have read from Parquet files: columns of any numbers and names.
#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn columns_of_flows() {
    let text = around("[[traffic]]\nname = \"a\"\nkind = \"flows\"\nfile = \"list.parquet\"");
    let number = |random: &mut Stream, usual: u64| match random.below(40) {
        0 => u64::MAX,
        1 => u64::MAX >> random.below(64),
        _ => random.below(usual),
    };
    let columns = |random: &mut Stream| {
        let rows = random.below(6) as usize;
        let rows = |random: &mut Stream| if random.below(60) == 0 { rows + 1 } else { rows };
        let numbers = |random: &mut Stream, usual: u64| -> Vec<u64> {
            (0..rows(random)).map(|_| number(random, usual)).collect()
        };
        let narrow = |list: Vec<u64>| list.into_iter().map(|n| n as u32).collect::<Vec<u32>>();
        let (src, dst) = (narrow(numbers(random, 4)), narrow(numbers(random, 4)));
        let (size_bytes, start_ns) = (numbers(random, 9000), numbers(random, 20_000));
        let optional = |random: &mut Stream, usual: u64| {
            let list = numbers(random, usual);
            let some = |n: u64| (!n.is_multiple_of(3)).then_some(n as u32);
            (random.below(2) == 0).then(|| list.into_iter().map(some).collect::<Vec<Option<u32>>>())
        };
        let (path, ack_path) = (optional(random, 4), optional(random, 4));
        let (query_id, priority) = (optional(random, 3), optional(random, 4));
        let bound_bytes = optional(random, 3_000);
        let bound_bytes = bound_bytes.map(|list| list.iter().map(|n| n.map(u64::from)).collect());
        let priority = priority.map(|list| list.iter().map(|n| n.map(|n| n as u8)).collect());
        let classes =
            numbers(random, 3).into_iter().map(|n| ["", "a", "b", "c"][n as usize % 4].into());
        let class = (random.below(2) == 0).then(|| classes.collect());
        let start_ps = (random.below(2) == 0).then(|| numbers(random, 20_000_000));
        let job = optional(random, 3);
        let delay_ns = optional(random, 9_000);
        let delay_ns = delay_ns.map(|list| list.iter().map(|n| n.map(u64::from)).collect());
        // Most wait for none or for an earlier one.
        let after = (random.below(2) == 0).then(|| {
            let of_row = |row: u64, random: &mut Stream| match random.below(3) {
                0 => Vec::new(),
                n => narrow((0..n).map(|_| number(random, row.max(1))).collect()),
            };
            (0..rows(random) as u64).map(|row| of_row(row, random)).collect()
        });
        FlowColumns {
            src,
            dst,
            size_bytes,
            start_ns,
            start_ps,
            class,
            priority,
            path,
            ack_path,
            query_id,
            bound_bytes,
            after,
            delay_ns,
            job,
        }
    };
    fuzz(
        "columns",
        // The number from which the columns are made.
        |random| random.below(1 << 60).to_le_bytes().to_vec(),
        |bytes| {
            let seed = u64::from_le_bytes(bytes.try_into().unwrap());
            let list = columns(&mut Stream::new(seed, "columns", 0));
            let flows = |_: &str, _: &str| Some(list.clone());
            let sources = Sources { flows: &flows, ..Sources::of(Path::new("")) };
            let Ok(scenario) = Scenario::read(parse(&text).unwrap(), &sources) else {
                return false;
            };
            let mut simulation = Simulation::new(scenario);
            simulation.run(2000);
            simulation.is_conserved()
        },
    );
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn distributions() {
    let files = bundled("crates/spillway-traffic/cdf", "txt");
    let seeds = slices(&files);
    let folder = Folder::new("fuzz-cdf");
    let text = around(
        "[[traffic]]\nname = \"a\"\nkind = \"poisson\"\nsizes = \"cdf.txt\"\nload = 0.5\nflows = 30\n\
         load_of = \"host\"\ndestinations = \"uniform\"",
    );
    let within = text.replace("load = 0.5", "load = 0.5\nsizes_within = \"1KB..100KB\"");
    fuzz(
        "distributions",
        |random| mutated(random, &seeds),
        |bytes| {
            std::fs::write(folder.0.join("cdf.txt"), bytes).unwrap();
            read_and_run(&within, &folder.0);
            read_and_run(&text, &folder.0)
        },
    );
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn graphs() {
    let host = |name: &str, switch: &str| {
        format!(
            "[[host]]\nname = {name:?}\nswitch = {switch:?}\nrate = \"10Gbps\"\ndelay = \"1us\"\n"
        )
    };
    let link = |a: &str, b: &str| {
        format!("[[link]]\na = {a:?}\nb = {b:?}\nrate = \"40Gbps\"\ndelay = \"2us\"\ncount = 2\n")
    };
    let switches = "[[switch]]\nname = \"l\"\n[[switch]]\nname = \"s\"\ntier = \"spine\"\n\
                    [[switch]]\nname = \"r\"\n";
    let one = format!(
        "{switches}{}{}{}{}",
        host("a", "l"),
        host("b", "r"),
        link("l", "s"),
        link("s", "r")
    );
    let two = format!("[[switch]]\nname = \"l\"\n{}{}", host("a", "l"), host("b", "l"));
    let folder = Folder::new("fuzz-graphs");
    let text = "duration = \"20us\"\nlimits.memory = \"50MB\"\n\
                topology = { kind = \"graph\", file = \"graph.toml\" }\n\
                [[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"3KB\"";
    fuzz(
        "graphs",
        |random| mutated(random, &[one.as_bytes(), two.as_bytes()]),
        |bytes| {
            std::fs::write(folder.0.join("graph.toml"), bytes).unwrap();
            read_and_run(text, &folder.0)
        },
    );
}

/// Changes a model and then corrects its checksum, so that reading goes past the checksum.
fn with_right_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some((place, sum)) = checksum(&bytes) {
        bytes[place].copy_from_slice(sum.as_bytes());
    }
    bytes
}

#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn models() {
    let files = bundled("crates/spillway-switch/models", "safetensors");
    let seeds = slices(&files);
    fuzz(
        "models",
        |random| {
            let bytes = mutated(random, &seeds);
            if random.below(4) == 0 { bytes } else { with_right_checksum(bytes) }
        },
        |bytes| {
            let Ok(forest) = Forest::read(bytes) else { return false };
            for value in [0.0, -1.0, 1e300, f64::NAN] {
                forest.is_positive(&vec![value as f32; forest.features().len()]);
            }
            true
        },
    );
}

/// Small models that bound sizes, made by `spillway.bounds` of 60 flows.
#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn bounds() {
    let files = bundled("crates/spillway-traffic/src/data", "safetensors");
    let seeds = slices(&files);
    fuzz(
        "bounds",
        |random| {
            let bytes = mutated(random, &seeds);
            if random.below(4) == 0 { bytes } else { with_right_checksum(bytes) }
        },
        |bytes| {
            let Ok(forest) = Regressor::read(bytes) else { return false };
            for value in [0.0, -1.0, 1e300, f64::NAN] {
                let scaled = forest.scaled(&vec![value; forest.features().len()]);
                forest.bound(&scaled);
                forest.size(&scaled);
            }
            true
        },
    );
}

/// Histories and fates in the form that switches' policies read.
#[test]
#[ignore = "slow: as long as FUZZ_SECONDS says"]
fn records() {
    let switches = "switch = { buffer = \"20KB\", sharing = ";
    let history = around(&format!("{switches}{{ kind = \"smartbuf\", history = \"records\" }} }}"));
    let fates = around(&format!(
        "{switches}{{ kind = \"credence\", oracle = \"trace\", trace = \"records\" }} }}\n\
         [[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"9KB\""
    ));
    let folder = Folder::new("fuzz-records");
    let seeds: [Vec<u8>; 2] = [vec![0; 17 * 4], (0..=255).collect()];
    fuzz(
        "records",
        |random| {
            let mut bytes = mutated(random, &slices(&seeds));
            // Mostly whole records.
            let size = one(random, &[&17_usize, &20, &28, &1]);
            bytes.truncate(bytes.len() / size * size);
            bytes
        },
        |bytes| {
            std::fs::write(folder.0.join("records"), bytes).unwrap();
            let is_history = read_and_run(&history, &folder.0);
            read_and_run(&fates, &folder.0) || is_history
        },
    );
}
