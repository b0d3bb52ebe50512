//! Searches in lists of numbers, a piece at a time: within a piece the compiler compares several
//! numbers at once.

/// Numbers that are compared without a branch between them.
const PIECE: usize = 16;

/// The first place of a number; it must be there.
#[inline]
pub(crate) fn first_place(numbers: &[u32], number: u32) -> usize {
    let (pieces, rest) = numbers.as_chunks::<PIECE>();
    let piece = pieces.iter().position(|piece| has(piece, number));
    let (skipped, within) = match piece {
        Some(piece) => (piece * PIECE, pieces[piece].as_slice()),
        None => (pieces.len() * PIECE, rest),
    };
    let place = within.iter().position(|&other| other == number);
    skipped + place.expect("the number is there")
}

/// The last place of a number; it must be there.
#[inline]
pub(crate) fn last_place(numbers: &[u32], number: u32) -> usize {
    let (rest, pieces) = numbers.as_rchunks::<PIECE>();
    let piece = pieces.iter().rposition(|piece| has(piece, number));
    let (skipped, within) = match piece {
        Some(piece) => (rest.len() + piece * PIECE, pieces[piece].as_slice()),
        None => (0, rest),
    };
    let place = within.iter().rposition(|&other| other == number);
    skipped + place.expect("the number is there")
}

/// Whether a piece has a number.
#[inline(always)]
fn has(piece: &[u32; PIECE], number: u32) -> bool {
    piece.iter().fold(false, |has, &other| has | (other == number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_and_the_last_place_lie_in_whole_pieces_and_beside_them() {
        // 16 + 16 + 3 numbers: pieces are 0..16 and 16..32 from the front, 3..19 and 19..35 from
        // the back.
        let mut numbers = [0; 35];
        for place in [0, 2, 3, 15, 16, 18, 19, 31, 32, 34] {
            numbers[place] = 7;
            assert_eq!((first_place(&numbers, 7), last_place(&numbers, 7)), (place, place));
            numbers[place] = 0;
        }
        assert_eq!((first_place(&numbers, 0), last_place(&numbers, 0)), (0, 34));
    }

    proptest! {
        #[test]
        fn places_are_those_of_a_plain_search(
            numbers in prop::collection::vec(0u32..20, 1..90),
            which in any::<prop::sample::Index>(),
        ) {
            let number = numbers[which.index(numbers.len())];
            let is_it = |&other: &u32| other == number;
            prop_assert_eq!(Some(first_place(&numbers, number)), numbers.iter().position(is_it));
            prop_assert_eq!(Some(last_place(&numbers, number)), numbers.iter().rposition(is_it));
        }
    }
}
