//! Columns: the type of a table's numbers, whether they may be absent, and the names that they
//! stand for.
//!
//! All three follow from the type of a row's field: a number, a [`Name`], or an `Option` of either.

use super::names::{Name, Named, Names};

macro_rules! numbers {
    ($($variant:ident $number:ty, $name:literal: absent $absent:expr),+ $(,)?) => {
        /// Numbers of one type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Values {
            $(
                #[doc = concat!("Of type `", stringify!($number), "`.")]
                $variant(Vec<$number>),
            )+
        }

        $(
            impl Number for $number {
                const ABSENT: $number = $absent;
                const NAME: &'static str = $name;
            }

            impl From<Vec<$number>> for Values {
                fn from(values: Vec<$number>) -> Values {
                    Values::$variant(values)
                }
            }

            impl Value for $number {
                type Number = $number;
                const NAMES: Option<Names> = None;

                #[inline]
                fn number(self) -> $number {
                    self
                }
            }
        )+
    };
}

numbers! {
    U8 u8, "uint8": absent u8::MAX,
    U16 u16, "uint16": absent u16::MAX,
    U32 u32, "uint32": absent u32::MAX,
    U64 u64, "uint64": absent u64::MAX,
    I16 i16, "int16": absent -1,
    I32 i32, "int32": absent -1,
    I64 i64, "int64": absent -1,
    F64 f64, "double": absent 0.0,
}

/// A type of number that a column can hold.
pub trait Number: Copy + Default + std::fmt::Debug + PartialEq {
    /// The number stored where a value is absent. Only tests read it.
    const ABSENT: Self;
    /// Arrow's name of the type.
    const NAME: &'static str;
}

/// A value that is never absent: a number, or a name given by its number.
pub trait Value: Copy {
    /// The type of the number that is stored.
    type Number: Number;
    /// The names that it stands for, if any.
    const NAMES: Option<Names>;

    /// The number that is stored.
    fn number(self) -> Self::Number;
}

impl<K: Named> Value for Name<K> {
    type Number = K::Number;
    const NAMES: Option<Names> = Some(K::NAMES);

    #[inline]
    fn number(self) -> K::Number {
        self.0
    }
}

/// A row's field.
pub trait Field {
    /// The type of its column.
    type Column: Clone + std::fmt::Debug + Default + PartialEq;
    /// The bytes that a value takes in its column, not counting the bit of a value that may be
    /// absent.
    const BYTES: usize;

    /// Appends the value to the column.
    fn push(self, column: &mut Self::Column);

    /// The number of values in a column.
    fn len(column: &Self::Column) -> usize;

    /// The finished column, with its name.
    fn finish(name: &'static str, column: Self::Column) -> Column;

    /// What the column is, with its name and meaning.
    fn kind(name: &'static str, meaning: &'static str) -> Kind;
}

impl<V: Value> Field for V
where
    Values: From<Vec<V::Number>>,
{
    type Column = Vec<V::Number>;
    const BYTES: usize = size_of::<V::Number>();

    #[inline]
    fn push(self, column: &mut Vec<V::Number>) {
        column.push(self.number());
    }

    fn len(column: &Vec<V::Number>) -> usize {
        column.len()
    }

    fn finish(name: &'static str, column: Vec<V::Number>) -> Column {
        Column { name, values: column.into(), absent: None, names: V::NAMES }
    }

    fn kind(name: &'static str, meaning: &'static str) -> Kind {
        let names = V::NAMES;
        Kind { name, number: V::Number::NAME, names, may_be_absent: false, meaning }
    }
}

impl<V: Value> Field for Option<V>
where
    Values: From<Vec<V::Number>>,
{
    type Column = Optional<V::Number>;
    const BYTES: usize = size_of::<V::Number>();

    #[inline]
    fn push(self, column: &mut Optional<V::Number>) {
        column.push(self.map(V::number));
    }

    fn len(column: &Optional<V::Number>) -> usize {
        column.values.len()
    }

    fn finish(name: &'static str, column: Optional<V::Number>) -> Column {
        let absent = (column.absent > 0).then_some((column.present, column.absent));
        Column { name, values: column.values.into(), absent, names: V::NAMES }
    }

    fn kind(name: &'static str, meaning: &'static str) -> Kind {
        Kind { may_be_absent: true, ..V::kind(name, meaning) }
    }
}

/// A column in which values may be absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Optional<N> {
    values: Vec<N>,
    /// A bit for every value, the lowest first: whether it is present.
    present: Vec<u8>,
    absent: usize,
}

impl<N: Number> Optional<N> {
    #[inline]
    fn push(&mut self, value: Option<N>) {
        let bit = self.values.len() % 8;
        let is_there = u8::from(value.is_some());
        match self.present.last_mut() {
            Some(eight) if bit > 0 => *eight |= is_there << bit,
            _ => self.present.push(is_there),
        }
        self.absent += usize::from(value.is_none());
        self.values.push(value.unwrap_or(N::ABSENT));
    }

    /// The value in a row, if it is present.
    pub fn known(&self, row: usize) -> Option<N> {
        let is_there = self.present[row / 8] & 1 << (row % 8) != 0;
        is_there.then(|| self.values[row])
    }
}

/// All values. Where one is absent, the number is meaningless.
impl<N> std::ops::Deref for Optional<N> {
    type Target = [N];

    fn deref(&self) -> &[N] {
        &self.values
    }
}

/// What a column is, whatever its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name, which ends with the unit of its numbers, if they have one.
    pub name: &'static str,
    /// Arrow's name of the type of its numbers.
    pub number: &'static str,
    /// The names that its numbers stand for, if any.
    pub names: Option<Names>,
    /// Whether values may be absent.
    pub may_be_absent: bool,
    /// What its values mean.
    pub meaning: &'static str,
}

/// A column of a table, in Arrow's layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Its numbers.
    pub values: Values,
    /// If values may be absent: a bit for every value, the lowest first, that says whether it is
    /// present, and the number of absent values.
    pub absent: Option<(Vec<u8>, usize)>,
    /// The names that its numbers stand for, if any.
    pub names: Option<Names>,
}

#[cfg(test)]
mod tests {
    use super::super::names::Switch;
    use super::*;

    fn finished<F: Field>(values: impl IntoIterator<Item = F>) -> Column {
        let mut column = F::Column::default();
        values.into_iter().for_each(|value| value.push(&mut column));
        F::finish("x", column)
    }

    #[test]
    fn a_column_s_type_absence_and_names_follow_from_the_field() {
        let column = finished([1u64, 2]);
        let expected =
            Column { name: "x", values: Values::U64(vec![1, 2]), absent: None, names: None };
        assert_eq!(column, expected);
        let column = finished([Name::<Switch>(3)]);
        assert_eq!((column.values, column.names), (Values::U32(vec![3]), Some(Names::Switches)));
        // Nine values take a second byte. The second and the ninth are absent: 0b1111_1101, 0b0.
        let some = |n: i32| (n != 1 && n != 8).then_some(n);
        let column = finished((0..9).map(some));
        assert_eq!(column.absent, Some((vec![0b1111_1101, 0], 2)));
        assert_eq!(column.values, Values::I32(vec![0, -1, 2, 3, 4, 5, 6, 7, -1]));
        assert_eq!(finished([Some(1u8)]).absent, None);
        assert_eq!(finished([None::<u8>; 0]).absent, None);
    }

    #[test]
    fn an_absent_value_is_known_to_be_absent() {
        let mut column = Optional::default();
        [Some(7u64), None, Some(u64::MAX)].into_iter().for_each(|value| column.push(value));
        let known: Vec<_> = (0..3).map(|row| column.known(row)).collect();
        assert_eq!(known, [Some(7), None, Some(u64::MAX)]);
    }
}
