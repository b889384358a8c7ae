//! Statements that take many rows at once.
//!
//! Rows are cut into chunks whose sizes are powers of two, so that there are few different statements and each connection
//! keeps all of them prepared.

use std::fmt::Write;

use crate::Store;
use crate::db::Db;

/// The largest chunk. Longer statements save nothing more: the time is spent per row by then.
const LARGEST: usize = 64;
/// 1, 2, 4, ... 64.
const SIZES: usize = 7;

/// A statement around `VALUES`, ready for every chunk size and both databases.
pub(crate) struct MultiRow {
    lite: [String; SIZES],
    pg: [String; SIZES],
}

impl MultiRow {
    /// `head VALUES (...), (...) tail`, with so many columns per row.
    pub(crate) fn new(head: &str, columns: usize, tail: &str) -> Self {
        // SQLite finds the position of a parameter with a name by a search through all of them, so that their total cost
        // grows with the square of their number. Those without a name, `?`, are counted.
        let lite = |_: usize, sql: &mut String| sql.push('?');
        let pg = |number: usize, sql: &mut String| {
            let _infallible = write!(sql, "${number}");
        };
        Self {
            lite: std::array::from_fn(|size| statement(head, columns, tail, 1 << size, lite)),
            pg: std::array::from_fn(|size| statement(head, columns, tail, 1 << size, pg)),
        }
    }

    /// The statement for a chunk that [`chunks`] gave.
    pub(crate) fn sql(&self, store: &Store, rows: usize) -> &str {
        let size = rows.trailing_zeros() as usize;
        match store.db() {
            Db::Lite(_) => &self.lite[size],
            Db::Pg(_) => &self.pg[size],
        }
    }
}

fn statement(
    head: &str,
    columns: usize,
    tail: &str,
    rows: usize,
    parameter: impl Fn(usize, &mut String),
) -> String {
    let mut sql = format!("{head} VALUES ");
    for row in 0..rows {
        sql.push_str(if row == 0 { "(" } else { ", (" });
        for column in 0..columns {
            if column > 0 {
                sql.push_str(", ");
            }
            parameter(row * columns + column + 1, &mut sql);
        }
        sql.push(')');
    }
    sql.push_str(tail);
    sql
}

/// Cuts rows into chunks of 64, and the rest into smaller powers of two.
pub(crate) fn chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = 1 << rows.len().min(LARGEST).checked_ilog2()?;
        let (chunk, rest) = rows.split_at(size);
        rows = rest;
        Some(chunk)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_all_rows_once_and_are_powers_of_two() {
        for length in [0, 1, 2, 3, 5, 63, 64, 65, 200, 511, 512] {
            let rows: Vec<usize> = (0..length).collect();
            let cut: Vec<&[usize]> = chunks(&rows).collect();
            assert_eq!(cut.concat(), rows);
            assert!(
                cut.iter()
                    .all(|chunk| chunk.len().is_power_of_two() && chunk.len() <= LARGEST)
            );
            assert!(cut.len() < length / LARGEST + SIZES);
        }
    }

    #[test]
    fn parameters_are_numbered_through_for_postgres() {
        let statement = MultiRow::new("INSERT INTO t (a, b)", 2, " ON CONFLICT DO NOTHING");
        assert_eq!(
            statement.pg[1],
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            statement.lite[1],
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT DO NOTHING"
        );
    }
}
