//! Makes a table from the type of its rows.

/// Declares a row and its table, which has a column for every field. The field's type determines
/// the column's.
macro_rules! table {
    (
        $(#[$meta:meta])*
        $row:ident => $table:ident { $($(#[$doc:meta])* $field:ident: $type:ty),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub struct $row {
            $($(#[$doc])* pub $field: $type,)+
        }

        #[doc = concat!("Rows of type [`", stringify!($row), "`], by column.")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $table {
            $($(#[$doc])* pub $field: <$type as $crate::record::column::Field>::Column,)+
        }

        impl $table {
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
