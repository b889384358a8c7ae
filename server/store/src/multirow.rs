//! Statements that take many rows at once.
//!
//! There is one statement for each number of rows up to [`LARGEST`], made when it is first needed, and each connection keeps
//! them prepared: a batch of any size takes as few steps as it can.

use std::fmt::Write;
use std::sync::OnceLock;

use crate::Store;
use crate::db::Db;

/// Most rows in one statement. More saves nothing: the time is spent per row by then.
pub(crate) const LARGEST: usize = 32;

/// How many statements a connection should keep prepared: those of the writer of records for each size, and all others.
pub(crate) const STATEMENTS: usize = 6 * LARGEST + 64;

/// A statement around `VALUES`, for any number of rows and both databases.
pub(crate) struct MultiRow {
    head: &'static str,
    columns: usize,
    tail: &'static str,
    lite: [OnceLock<String>; LARGEST],
    pg: [OnceLock<String>; LARGEST],
}

impl MultiRow {
    /// `head VALUES (...), (...) tail`, with so many columns per row.
    pub(crate) const fn new(head: &'static str, columns: usize, tail: &'static str) -> Self {
        Self {
            head,
            columns,
            tail,
            lite: [const { OnceLock::new() }; LARGEST],
            pg: [const { OnceLock::new() }; LARGEST],
        }
    }

    /// The statement for a chunk that [`chunks`] gave.
    pub(crate) fn sql(&self, store: &Store, rows: usize) -> &str {
        match store.db() {
            // SQLite finds the position of a parameter with a name by a search through all of them, so that their total
            // cost grows with the square of their number. Those without a name, `?`, are counted.
            Db::Lite(_) => self.lite[rows - 1].get_or_init(|| self.build(rows, false)),
            Db::Pg(_) => self.pg[rows - 1].get_or_init(|| self.build(rows, true)),
        }
    }

    fn build(&self, rows: usize, numbered: bool) -> String {
        let mut sql = format!("{} VALUES ", self.head);
        for row in 0..rows {
            sql.push_str(if row == 0 { "(" } else { ", (" });
            for column in 0..self.columns {
                if column > 0 {
                    sql.push_str(", ");
                }
                if numbered {
                    let _infallible = write!(sql, "${}", row * self.columns + column + 1);
                } else {
                    sql.push('?');
                }
            }
            sql.push(')');
        }
        sql.push_str(self.tail);
        sql
    }
}

/// Cuts rows into chunks that one statement takes.
pub(crate) fn chunks<T>(rows: &[T]) -> std::slice::Chunks<'_, T> {
    rows.chunks(LARGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered_through_for_postgres() {
        let statement = MultiRow::new("INSERT INTO t (a, b)", 2, " ON CONFLICT DO NOTHING");
        assert_eq!(
            statement.build(2, true),
            "INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4) ON CONFLICT DO NOTHING"
        );
        assert_eq!(
            statement.build(2, false),
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?) ON CONFLICT DO NOTHING"
        );
    }
}
