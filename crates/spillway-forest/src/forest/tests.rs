use super::*;
use crate::testing::{Array, doubles, signed, whole, written};

/// The arrays of a file.
struct Layout {
    root: Vec<u32>,
    feature: Vec<i32>,
    threshold: Vec<f64>,
    left: Vec<u32>,
    right: Vec<u32>,
    value: Vec<[f64; 2]>,
}

/// Two small trees over two features. Tree 0: x0 <= 0.5 has the shares (0.9, 0.1), else (0.2, 0.8).
/// Tree 1: x1 <= 0.25 has (0.6, 0.4), else x0 <= 2.0 has (0.5, 0.5), else (0, 1).
fn layout() -> Layout {
    Layout {
        root: vec![0, 3],
        feature: vec![0, -1, -1, 1, -1, 0, -1, -1],
        threshold: vec![0.5, 0.0, 0.0, 0.25, 0.0, 2.0, 0.0, 0.0],
        left: vec![1, 0, 0, 4, 0, 6, 0, 0],
        right: vec![2, 0, 0, 5, 0, 7, 0, 0],
        value: vec![
            [0.0, 0.0],
            [0.9, 0.1],
            [0.2, 0.8],
            [0.0, 0.0],
            [0.6, 0.4],
            [0.0, 0.0],
            [0.5, 0.5],
            [0.0, 1.0],
        ],
    }
}

/// A file with these nodes. `change` may modify its metadata.
fn file(layout: &Layout, change: impl Fn(&mut BTreeMap<String, String>)) -> Vec<u8> {
    let value: Vec<f64> = layout.value.iter().flatten().copied().collect();
    let arrays = [
        whole("root", &layout.root),
        signed("feature", &layout.feature),
        doubles("threshold", &layout.threshold),
        whole("left", &layout.left),
        whole("right", &layout.right),
        Array { shape: vec![value.len() / 2, 2], ..doubles("value", &value) },
    ];
    let told = [("features", "queue,occupancy"), ("units", "fraction")];
    written(&arrays, &told, change)
}

/// Why a file with these nodes is refused.
fn refusal(layout: &Layout) -> String {
    Forest::read(&file(layout, |_| {})).unwrap_err().to_string()
}

#[test]
fn shares_are_summed_over_the_trees() {
    let forest = Forest::read(&file(&layout(), |_| {})).unwrap();
    assert_eq!((forest.trees(), forest.depth()), (2, 2));
    assert_eq!(forest.features(), ["queue", "occupancy"]);
    assert_eq!((forest.metadata("units"), forest.metadata("none")), (Some("fraction"), None));
    // 0.8 + 0.4 > 0.2 + 0.6.
    assert!(forest.is_positive(&[0.6, 0.1]));
    // 0.1 + 0.4 < 0.9 + 0.6; a value equal to the threshold goes left.
    assert!(!forest.is_positive(&[0.5, 0.25]));
    // 0.1 + 0.5 < 0.9 + 0.5, and 0.8 + 1.0 > 0.2 + 0.0.
    assert!(!forest.is_positive(&[0.1, 0.3]));
    assert!(forest.is_positive(&[2.5, 0.3]));
}

/// One to nine stumps over the same feature: a value above k thresholds gets k shares of 1.
#[test]
fn any_number_of_trees_is_walked() {
    for trees in 1..10 {
        let all = || 0..trees;
        let layout = Layout {
            root: all().map(|tree| 3 * tree).collect(),
            feature: all().flat_map(|_| [0, -1, -1]).collect(),
            threshold: all().flat_map(|tree| [f64::from(tree), 0.0, 0.0]).collect(),
            left: all().flat_map(|tree| [3 * tree + 1, 0, 0]).collect(),
            right: all().flat_map(|tree| [3 * tree + 2, 0, 0]).collect(),
            value: all().flat_map(|_| [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]).collect(),
        };
        let forest = Forest::read(&file(&layout, |_| {})).unwrap();
        for above in 0..=trees {
            assert_eq!(forest.is_positive(&[above as f32 - 0.5, 0.0]), 2 * above > trees);
        }
    }
}

#[test]
fn equal_shares_are_not_positive() {
    let mut layout = layout();
    layout.value[1] = [0.4, 0.6];
    assert!(!Forest::read(&file(&layout, |_| {})).unwrap().is_positive(&[0.1, 0.1]));
}

#[test]
fn a_tree_may_be_a_single_leaf() {
    let layout = Layout {
        root: vec![0],
        feature: vec![-1],
        threshold: vec![0.0],
        left: vec![0],
        right: vec![0],
        value: vec![[0.0, 1.0]],
    };
    assert!(Forest::read(&file(&layout, |_| {})).unwrap().is_positive(&[0.0, 0.0]));
}

#[test]
fn what_is_damaged_is_refused() {
    let whole = file(&layout(), |_| {});
    for length in [0, 7, 100, whole.len() - 1] {
        let error = Forest::read(&whole[..length]).unwrap_err();
        assert!(matches!(error, ForestError::Unreadable(_)), "{length}: {error}");
    }
    // Any bit is flipped, even in the header. If the file cannot be read then, that is the reason
    // for which it is refused.
    let (mut unread, mut damaged) = (0, 0);
    for place in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[place] ^= 1 << bit;
            match Forest::read(&flipped).unwrap_err() {
                ForestError::Damaged(problem) => {
                    assert!(problem.contains("checksum"), "{problem}");
                    damaged += 1;
                }
                _ => unread += 1,
            }
        }
    }
    assert!(damaged > 1000 && unread > 1000, "{damaged} {unread}");
    let without = file(&layout(), |metadata| _ = metadata.remove("crc32"));
    assert_eq!(
        Forest::read(&without).unwrap_err().to_string(),
        "it is damaged: it has no checksum"
    );
}

#[test]
fn what_is_something_else_is_refused() {
    let told = |key: &'static str, value: &'static str| {
        let bytes = file(&layout(), |metadata| {
            metadata.insert(key.into(), value.into());
        });
        Forest::read(&bytes).unwrap_err().to_string()
    };
    assert!(told("format", "x").contains("no format = \"spillway-forest\""));
    assert_eq!(told("version", "1"), "its version is 1; this program reads version 2");
    assert!(told("features", "").contains("does not name its features"));
    assert_eq!(told("features", "queue"), "it is damaged: node 3 asks for 1 <= 0.25");
}

#[test]
fn nodes_that_make_no_trees_are_refused() {
    let damaged = |change: fn(&mut Layout)| {
        let mut layout = layout();
        change(&mut layout);
        refusal(&layout)
    };
    assert!(damaged(|l| l.left[0] = 0).ends_with("node 0 leads to 0"));
    assert!(damaged(|l| l.left[5] = 2).ends_with("node 5 leads to 2"));
    assert!(damaged(|l| l.right[0] = 3).ends_with("node 0 leads to 3"));
    assert!(damaged(|l| l.right[5] = 6).ends_with("node 5 leads to 6"));
    assert!(damaged(|l| l.right[5] = 99).ends_with("node 5 leads to 99"));
    assert!(damaged(|l| l.feature[5] = -1).ends_with("nothing leads to node 6"));
    assert!(damaged(|l| l.root = vec![1]).contains("its trees begin at [1]"));
    assert!(damaged(|l| l.root = vec![0, 30]).contains("its trees begin at [0, 30]"));
    assert!(damaged(|l| l.root.clear()).contains("its trees begin at []"));
    assert!(damaged(|l| l.threshold[0] = f64::NAN).ends_with("node 0 asks for 0 <= NaN"));
    assert!(damaged(|l| l.value[1] = [2.0, 0.0]).contains("leaf 1 has the shares"));
    assert!(damaged(|l| l.left.truncate(3)).contains("it has 8 nodes"));
}
