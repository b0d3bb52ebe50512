use super::*;
use crate::Forest;
use crate::testing::{Array, doubles, signed, whole, written};

/// Two trees over the features x and y, which are divided by 10 and 1. Tree 0: x <= 5 (0.5 scaled)
/// is leaf 1, with the sizes 100, 200 and 400; else leaf 2, with 1000 and 3000. Tree 1: y <= 2 is
/// leaf 4, with 100, 200, 1000 and 3000; else leaf 5, with 400.
fn arrays() -> Vec<Array> {
    vec![
        whole("root", &[0, 3]),
        signed("feature", &[0, -1, -1, 1, -1, -1]),
        doubles("threshold", &[0.5, 0.0, 0.0, 2.0, 0.0, 0.0]),
        whole("left", &[1, 0, 0, 4, 0, 0]),
        whole("right", &[2, 0, 0, 5, 0, 0]),
        doubles("value", &[0.0, 5.0, 7.0, 0.0, 6.0, 6.5]),
        doubles("least", &[0.0, 100.0, 1000.0, 0.0, 100.0, 400.0]),
        whole("first", &[0, 0, 3, 0, 5, 9]),
        whole("count", &[0, 3, 2, 0, 4, 1]),
        whole("ranks", &[0, 1, 2, 3, 4, 0, 1, 3, 4, 2]),
        doubles("sizes", &[100.0, 200.0, 400.0, 1000.0, 3000.0]),
    ]
}

fn told(method: &'static str) -> [(&'static str, &'static str); 6] {
    [
        ("kind", "regression"),
        ("features", "x,y"),
        ("scale", "10.0,1.0"),
        ("method", method),
        ("quantile", "0.3"),
        ("factor", "1.0"),
    ]
}

fn regressor(method: &'static str, changes: &[(&str, &str)]) -> Regressor {
    Regressor::read(&bytes(method, changes)).unwrap()
}

fn bytes(method: &'static str, changes: &[(&str, &str)]) -> Vec<u8> {
    written(&arrays(), &told(method), |metadata| {
        metadata.extend(changes.iter().map(|(key, value)| (key.to_string(), value.to_string())));
    })
}

/// The bounds at the four pairs of leaves: 1 and 4, 1 and 5, 2 and 4, 2 and 5. The first is at the
/// thresholds.
fn bounds(regressor: &Regressor) -> [u64; 4] {
    [[5.0, 2.0], [4.0, 3.0], [6.0, 0.0], [50.0, 2.5]].map(|raw| {
        let scaled = regressor.scaled(&raw);
        regressor.bound(&scaled)
    })
}

#[test]
fn bounds_are_those_of_the_leaves() {
    assert_eq!(bounds(&regressor("least", &[])), [100, 100, 100, 400]);
    // (100 + 100) / 2, (100 + 400) / 2, (1000 + 100) / 2, (1000 + 400) / 2.
    assert_eq!(bounds(&regressor("mean", &[])), [100, 250, 550, 700]);
    // A bound is rounded down: 0.999 x 250 = 249.75.
    assert_eq!(bounds(&regressor("mean", &[("factor", "0.999")])), [99, 249, 549, 699]);
    // exp(5.5) = 244.69, exp(5.75) = 314.19, exp(6.5) = 665.14, exp(6.75) = 854.06.
    assert_eq!(bounds(&regressor("point", &[])), [244, 314, 665, 854]);
}

#[test]
fn a_quantile_is_one_of_all_sizes_of_the_leaves() {
    // Wanted are 0.3 x 2 = 0.6 of a tree. Leaves 1 and 4: 100 holds 1/3 + 1/4 = 0.58, 200 twice as
    // much. Leaves 1 and 5: 200 holds 2/3. Leaves 2 and 4: 200 holds 0 + 2/4, and 1000 1/2 + 3/4.
    // Leaves 2 and 5: 400 holds 0 + 1.
    assert_eq!(bounds(&regressor("quantile", &[])), [200, 200, 1000, 400]);
    // Of 0.2: 100 holds 0.58; of 0.66, which is 1.32, 200 holds 1.17 and 400 1.5.
    assert_eq!(bounds(&regressor("quantile", &[("quantile", "0.1")]))[0], 100);
    assert_eq!(bounds(&regressor("quantile", &[("quantile", "0.66")]))[0], 400);
    // Beyond all but the largest.
    assert_eq!(bounds(&regressor("quantile", &[("quantile", "0.99")])), [3000, 400, 3000, 3000]);
}

#[test]
fn the_prediction_is_the_mean_over_the_trees() {
    let regressor = regressor("point", &[]);
    assert_eq!(regressor.scaled(&[3.0, 2.0]), [0.3_f64 as f32, 2.0]);
    assert_eq!(regressor.log_size(&[0.5, 3.0]), 5.75);
    assert_eq!(regressor.size(&[0.5, 3.0]), libm::exp(5.75));
    assert_eq!((regressor.trees(), regressor.depth()), (2, 1));
    assert_eq!((regressor.features().join(" "), regressor.metadata("x")), ("x y".into(), None));
}

#[test]
fn a_forest_of_the_other_kind_is_told_so() {
    let error = Forest::read(&bytes("least", &[])).unwrap_err();
    assert_eq!(error, ForestError::IsRegression);
    assert!(error.to_string().contains("for regression, as `spillway bounds train` writes"));
    for kind in ["", "classification"] {
        let error = Regressor::read(&bytes("least", &[("kind", kind)])).unwrap_err();
        assert_eq!(error, ForestError::IsClassification);
        assert!(error.to_string().contains("classification, as `spillway oracle train` writes"));
    }
    let other = Regressor::read(&bytes("least", &[("kind", "clusters")])).unwrap_err();
    assert_eq!(other.to_string(), "it is not a forest: its kind is \"clusters\"");
}

#[test]
fn what_is_told_wrongly_is_refused() {
    let told = |key, value| Regressor::read(&bytes("quantile", &[(key, value)])).unwrap_err();
    for (key, value, expected) in [
        ("method", "guess", "least, mean, quantile or point"),
        ("factor", "1.1", "a number above 0, at most 1"),
        ("factor", "0", "a number above 0, at most 1"),
        ("factor", "NaN", "a number above 0, at most 1"),
        ("quantile", "1", "a number in (0, 1)"),
        ("scale", "1.0", "a number above 0 for each feature, separated by commas"),
        ("scale", "1.0,0", "a number above 0 for each feature, separated by commas"),
        ("scale", "1.0,inf", "a number above 0 for each feature, separated by commas"),
    ] {
        let expected = format!("it is not a forest: its {key} is {value:?}; expected {expected}");
        assert_eq!(told(key, value).to_string(), expected);
    }
    assert!(told("features", "x").to_string().contains("node 3 asks for 1 <= 2"));
}

#[test]
fn what_is_damaged_is_refused() {
    let damaged = |method, change: Array| {
        let mut arrays = arrays();
        let place = arrays.iter().position(|array| array.name == change.name).unwrap();
        arrays[place] = change;
        let error = Regressor::read(&written(&arrays, &told(method), |_| {})).unwrap_err();
        assert!(matches!(error, ForestError::Damaged(_)), "{error}");
        error.to_string()
    };
    let value = |leaf: f64| doubles("value", &[0.0, 5.0, 7.0, 0.0, 6.0, leaf]);
    assert!(damaged("point", value(40.0)).contains("leaf 5 has the value 40"));
    assert!(damaged("point", value(f64::NAN)).contains("leaf 5 has the value NaN"));
    assert!(damaged("point", doubles("value", &[5.0; 12])).contains("it has 6 nodes"));
    let none = doubles("least", &[0.0, 100.0, 0.5, 0.0, 100.0, 400.0]);
    assert!(damaged("least", none).contains("no size for each leaf"));
    assert!(damaged("mean", doubles("least", &[9.0; 5])).contains("no size for each leaf"));
    let sizes = |first: f64| doubles("sizes", &[first, 200.0, 400.0, 1000.0, 3000.0]);
    assert!(damaged("quantile", sizes(300.0)).contains("its sizes are not in order"));
    assert!(damaged("quantile", sizes(0.0)).contains("its sizes are not in order"));
    let ranks = |first: u32| whole("ranks", &[first, 1, 2, 3, 4, 0, 1, 3, 4, 2]);
    assert!(damaged("quantile", ranks(2)).contains("or they are not in order"));
    assert!(damaged("quantile", ranks(5)).contains("a leaf has a size that there is not"));
    let first = |last: u32| whole("first", &[0, 0, 3, 0, 5, last]);
    assert!(damaged("quantile", first(10)).contains("a leaf has no sizes"));
    assert!(damaged("quantile", first(u32::MAX)).contains("a leaf has no sizes"));
    assert!(damaged("quantile", whole("count", &[0, 3, 2, 0, 4, 0])).contains("has no sizes"));
    assert!(damaged("quantile", whole("count", &[1; 5])).contains("\"first\" and \"count\""));
}

#[test]
fn only_what_the_method_needs_is_in_a_file() {
    let without: Vec<Array> = arrays().into_iter().take(6).collect();
    assert!(Regressor::read(&written(&without, &told("point"), |_| {})).is_ok());
    for (method, array) in [("least", "least"), ("mean", "least"), ("quantile", "first")] {
        let error = Regressor::read(&written(&without, &told(method), |_| {})).unwrap_err();
        assert_eq!(error.to_string(), format!("it is not a forest: it has no array {array:?}"));
    }
}
