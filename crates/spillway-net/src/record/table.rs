//! Makes a table from the type of its rows.

/// Declares a row and its table, which has a column for every field. The field's type determines
/// the column's, and its documentation is what pages say of the column. A row may also say how each
/// value is read from something, and a table under which condition it is recorded.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $row:ident => $table:ident of |$from:ident: $of:ty| {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $value:expr),+ $(,)?
        }
        $(recorded if |$scenario:ident| $asked:expr)?
    ) => {
        $crate::record::table::table! {
            $(#[$meta])*
            $row => $table { $($(#[doc = $doc])+ $field: $type),+ }
            $(recorded if |$scenario| $asked)?
        }

        impl $table {
            /// Adds the row of this.
            pub fn add(&mut self, $from: &$of) {
                self.push($row { $($field: $value),+ });
            }
        }
    };
    (
        $(#[$meta:meta])*
        $row:ident => $table:ident {
            $($(#[doc = $doc:literal])+ $field:ident: $type:ty),+ $(,)?
        }
        $(recorded if |$scenario:ident| $asked:expr)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $row {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        #[doc = concat!("Rows of type [`", stringify!($row), "`], by column.")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $table {
            $($(#[doc = $doc])+ pub $field: <$type as $crate::record::column::Field>::Column,)+
        }

        impl $table {
            $(
                /// Whether a run of the scenario records this.
                pub fn is_recorded($scenario: &$crate::scenario::Scenario) -> bool {
                    $asked
                }
            )?

            /// What its columns are, in order.
            pub fn kinds() -> Vec<$crate::record::column::Kind> {
                vec![$(
                    <$type as $crate::record::column::Field>::kind(
                        stringify!($field),
                        concat!($($doc),+).trim_ascii(),
                    )
                ),+]
            }

            /// Adds a row.
            #[inline(always)]
            pub fn push(&mut self, row: $row) {
                $($crate::record::column::Field::push(row.$field, &mut self.$field);)+
            }

            /// The number of rows.
            pub fn len(&self) -> usize {
                [$(<$type as $crate::record::column::Field>::len(&self.$field)),+][0]
            }

            /// Whether it has no rows.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Bytes of memory that its rows take.
            pub fn bytes(&self) -> usize {
                let row = [$(<$type as $crate::record::column::Field>::BYTES),+];
                self.len() * row.iter().sum::<usize>()
            }

            /// Its columns, in order.
            pub fn columns(self) -> Vec<$crate::record::column::Column> {
                vec![$(
                    <$type as $crate::record::column::Field>::finish(
                        stringify!($field),
                        self.$field,
                    )
                ),+]
            }
        }
    };
}
pub(crate) use table;
