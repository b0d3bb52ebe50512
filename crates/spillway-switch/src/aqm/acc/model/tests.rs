use super::*;
use crate::aqm::acc::network::Scratch;
use crate::aqm::acc::testing::Agent;

/// Two lines; an output for each out of six inputs and a hidden sum.
fn agent() -> Agent {
    let hidden = vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5];
    let outputs = vec![vec![1.0, 0.0], vec![-1.0, 2.0]];
    let actions = [[3_000.0, 30_000.0, 0.01], [6_000.0, 6_000.0, 1.0]];
    Agent::new(206_000_000, 1, [1e5, 1.0, 1.0, 6e3, 3e4, 1.0], &actions, &[vec![hidden], outputs])
}

fn read(change: impl Fn(&mut Agent)) -> Result<Model> {
    let mut agent = agent();
    change(&mut agent);
    Model::read(&agent.written())
}

fn problem(change: impl Fn(&mut Agent)) -> String {
    read(change).unwrap_err().problem
}

fn tell(key: &'static str, value: &'static str) -> impl Fn(&mut Agent) {
    move |agent| {
        agent.metadata.insert(key.into(), value.into());
    }
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let model = read(|_| {}).unwrap();
    assert_eq!((model.interval, model.history), (Time::from_us(206), 1));
    assert_eq!(model.ranges, [1e5, 1.0, 1.0, 6e3, 3e4, 1.0]);
    let second = Action { min: 6_000, max: 6_000, max_probability: 1.0 };
    assert_eq!(model.actions[1], second);
    // h = q + 0.5; y = (h, 2 - h): the second line up to q = 0.5, where both are 1, then the first.
    let best =
        |queue: f32| model.network.best(&[queue, 0.0, 0.0, 0.0, 0.0, 0.0], &mut Scratch::default());
    assert_eq!([0.0, 0.25, 0.5, 0.75].map(best), [1, 1, 0, 0]);
}

#[test]
fn a_changed_byte_is_noticed() {
    let bytes = agent().written();
    let header = 8 + u64::from_le_bytes(*bytes.first_chunk().unwrap()) as usize;
    for place in [header, header + 100, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        let problem = Model::read(&damaged).unwrap_err().problem;
        assert!(problem.starts_with("it is damaged: its checksum is "), "{problem}");
    }
    for length in 0..bytes.len() {
        assert!(Model::read(&bytes[..length]).is_err(), "{length}");
    }
    assert_eq!(
        Model::read(b"nothing").unwrap_err().problem[..40],
        *"it is not a model file, or it is damaged"
    );
}

#[test]
fn what_is_something_else_is_refused() {
    assert_eq!(problem(tell("format", "x")), "its metadata has no format = \"spillway-acc\"");
    assert_eq!(problem(tell("format", "spillway-forest")), "it is a forest, not an agent");
    assert_eq!(problem(tell("version", "2")), "its version is 2; this program reads version 1");
    let unsummed = |agent: &mut Agent| {
        agent.metadata.remove("crc32");
    };
    assert_eq!(problem(unsummed), "it is damaged: it has no checksum");
    for (key, value, expected) in [
        ("interval_ps", "0", "its interval_ps is \"0\"; expected a whole number from 1 to "),
        ("interval_ps", "1.5", "its interval_ps is \"1.5\"; expected a whole number from 1 to "),
        ("history", "", "its history is \"\"; expected a whole number from 1 to 64"),
        ("history", "+1", "its history is \"+1\"; expected a whole number from 1 to 64"),
        ("history", "65", "its history is \"65\"; expected a whole number from 1 to 64"),
    ] {
        assert!(problem(tell(key, value)).starts_with(expected), "{key} {value}");
    }
}

#[test]
fn wrong_shapes_are_refused() {
    let gone = |name: &'static str| move |agent: &mut Agent| drop(agent.arrays.remove(name));
    assert_eq!(problem(gone("ranges")), "it has no array \"ranges\"");
    assert_eq!(problem(gone("layer0.bias")), problem(gone("layer0.weight")));
    assert!(
        problem(gone("layer1.weight")).starts_with("its layers must be layer0, layer1 and so on")
    );
    assert_eq!(
        problem(|agent| agent.singles("ranges", &[6], &[1.0; 6])),
        "its \"ranges\" is of F32, not F64"
    );
    assert_eq!(
        problem(|agent| agent.doubles("ranges", &[5], &[1.0; 5])),
        "its \"ranges\" has the shape [5]; expected 6"
    );
    assert_eq!(
        problem(|agent| agent.doubles("actions", &[6], &[1.0; 6])),
        "its \"actions\" has the shape [6]; expected any number x 3"
    );
    assert_eq!(
        problem(|agent| agent.doubles("actions", &[0, 3], &[])),
        "its \"actions\" has the shape [0, 3]; expected any number x 3"
    );
    // With two intervals, the first layer needs twelve inputs.
    assert_eq!(
        problem(tell("history", "2")),
        "its \"layer0.weight\" has the shape [1, 6]; expected any number x 12"
    );
    // Three lines, but two outputs.
    assert_eq!(
        problem(|agent| agent.doubles("actions", &[3, 3], &[1.0; 9])),
        "its \"layer1.weight\" has the shape [2, 1]; expected 3 x 1"
    );
    assert_eq!(
        problem(|agent| agent.singles("layer1.bias", &[3], &[0.0; 3])),
        "its \"layer1.bias\" has the shape [3]; expected 2"
    );
    let wide = |agent: &mut Agent| {
        agent.singles("layer0.weight", &[4_097, 6], &vec![0.0; 4_097 * 6]);
    };
    assert_eq!(problem(wide), "its layer 0 has 4097 outputs, more than 4096");
    let many = |agent: &mut Agent| {
        for number in 2..9 {
            agent.singles(&format!("layer{number}.weight"), &[2, 2], &[0.0; 4]);
            agent.singles(&format!("layer{number}.bias"), &[2], &[0.0; 2]);
        }
    };
    assert!(problem(many).contains("1 to 8"));
    let lines = |agent: &mut Agent| {
        agent.doubles("actions", &[65_537, 3], &vec![1.0; 3 * 65_537]);
    };
    assert_eq!(problem(lines), "it has 65537 actions, more than 65536");
    let other = |agent: &mut Agent| agent.doubles("more", &[1], &[0.0]);
    assert!(problem(other).starts_with("it has other arrays than "));
    let large = |agent: &mut Agent| {
        agent.doubles("more", &[2 << 20], &vec![0.0; 2 << 20]);
    };
    assert!(problem(large).ends_with(" bytes, more than 16 MiB"));
}

#[test]
fn wrong_numbers_are_refused() {
    let ranges = |place: usize, range: f64| {
        move |agent: &mut Agent| {
            let mut ranges = [1.0; 6];
            ranges[place] = range;
            agent.doubles("ranges", &[6], &ranges);
        }
    };
    assert_eq!(problem(ranges(3, 0.0)), "its range 0 is not above 0");
    assert_eq!(problem(ranges(0, f64::NAN)), "its \"ranges\" has the number NaN");
    for line in [
        [0.0, 10.0, 0.5],
        [11.0, 10.0, 0.5],
        [1.5, 10.0, 0.5],
        [1.0, 1.0e16, 0.5],
        [1.0, 10.0, 1.01],
        [1.0, 10.0, -0.01],
    ] {
        let change =
            |agent: &mut Agent| agent.doubles("actions", &[2, 3], &[[1.0; 3], line].concat());
        let problem = problem(change);
        assert!(problem.starts_with("its action 1 is min = "), "{line:?}: {problem}");
        assert!(problem.ends_with(", which is no line"), "{problem}");
    }
    let infinite = |agent: &mut Agent| agent.singles("layer1.bias", &[2], &[0.0, f32::INFINITY]);
    assert_eq!(problem(infinite), "its \"layer1.bias\" has the number inf");
}

#[test]
fn the_bundled_models_are_whole() {
    for (name, bytes) in crate::aqm::acc::MODELS {
        let model = Model::read(bytes);
        assert!(model.is_ok(), "{name}: {:?}", model.err());
    }
}
