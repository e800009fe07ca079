//! A grid: 1 to 30 rows of 1 to 30 cells, each 0 to 9.
//!
//! Invariant: every `Grid` is rectangular and within these bounds; what is not is a [`Fault`] that says where and why.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

/// The most rows, and the most cells in a row, that a grid may have.
pub const LARGEST_SIDE: usize = 30;

/// A rectangle of cells.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grid {
    width: usize,
    cells: Vec<u8>,
}

/// Why something is not a grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// No rows, or rows without cells.
    #[error("the grid has no cells")]
    Empty,
    /// Rows of different lengths.
    #[error("row {row} has {found} cells, but the first has {expected}")]
    Ragged {
        /// The row, from 1.
        row: usize,
        /// Cells in the first row.
        expected: usize,
        /// Cells in this row.
        found: usize,
    },
    /// More rows or columns than a grid may have.
    #[error("the grid is larger than {LARGEST_SIDE} by {LARGEST_SIDE}")]
    TooLarge,
    /// A whole number that is not a colour.
    #[error("`{value}` is not a colour: expected 0 to 9")]
    OutOfRange {
        /// What was found, shortened.
        value: String,
    },
    /// Something else than a whole number.
    #[error("`{value}` is not a whole number")]
    NonInteger {
        /// What was found, shortened.
        value: String,
    },
    /// A list of grids where one grid is expected.
    #[error("a list of {grids} grids is not a grid")]
    ThreeDimensional {
        /// How many.
        grids: usize,
    },
    /// Something else altogether.
    #[error("{what}")]
    NotAGrid {
        /// What was found.
        what: String,
    },
}

impl Fault {
    /// The name in tables.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty-grid",
            Self::Ragged { .. } => "ragged",
            Self::TooLarge => "too-large",
            Self::OutOfRange { .. } => "out-of-range",
            Self::NonInteger { .. } => "non-integer",
            Self::ThreeDimensional { .. } => "three-dimensional",
            Self::NotAGrid { .. } => "not-a-grid",
        }
    }
}

/// Which JSON values are taken for the number of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// Integers only: for data.
    Exact,
    /// Also `1.0` and `"1"`.
    Lenient,
    /// As the official harness's validation does it: also `true`.
    Official,
    /// As a conversion to an array of small integers does it: fractions are cut off, `"1"` and `true` are taken.
    Truncating,
    /// Strict equality of JavaScript: `1.0` is 1, and nothing else is.
    Script,
}

impl Grid {
    /// A grid of these rows.
    pub fn new(rows: &[Vec<u8>]) -> Result<Self, Fault> {
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            return Err(Fault::Empty);
        }
        if rows.len() > LARGEST_SIDE || width > LARGEST_SIDE {
            return Err(Fault::TooLarge);
        }
        if let Some((row, cells)) = rows.iter().enumerate().find(|(_, row)| row.len() != width) {
            return Err(Fault::Ragged {
                row: row + 1,
                expected: width,
                found: cells.len(),
            });
        }
        let cells: Vec<u8> = rows.concat();
        match cells.iter().find(|&&cell| cell > 9) {
            Some(cell) => Err(Fault::OutOfRange {
                value: cell.to_string(),
            }),
            None => Ok(Self { width, cells }),
        }
    }

    /// A grid from a list of lists of numbers.
    pub fn from_json(value: &Value, cells: Cells) -> Result<Self, Fault> {
        let Value::Array(lines) = value else {
            return Err(Fault::NotAGrid {
                what: format!("expected a list of rows, found {}", kind(value)),
            });
        };
        // What is too large is refused before its cells are looked at.
        if lines.len() > LARGEST_SIDE
            || lines.iter().any(|line| {
                line.as_array()
                    .is_some_and(|line| line.len() > LARGEST_SIDE)
            })
        {
            return Err(Fault::TooLarge);
        }
        let is_grid = |line: &Value| {
            line.as_array()
                .is_some_and(|line| !line.is_empty() && line.iter().all(Value::is_array))
        };
        if !lines.is_empty() && lines.iter().all(is_grid) {
            return Err(Fault::ThreeDimensional { grids: lines.len() });
        }
        let mut rows = Vec::with_capacity(lines.len());
        for line in lines {
            let Value::Array(line) = line else {
                return Err(Fault::NotAGrid {
                    what: format!("expected a row of numbers, found {}", kind(line)),
                });
            };
            rows.push(
                line.iter()
                    .map(|cell| cells.read(cell))
                    .collect::<Result<Vec<u8>, Fault>>()?,
            );
        }
        Self::new(&rows)
    }

    /// How many columns it has.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows it has.
    pub fn height(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Its rows from the top.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.cells.chunks_exact(self.width)
    }

    /// All cells, row by row.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// As JSON.
    pub fn to_json(&self) -> Value {
        self.rows().map(|row| Value::from(row.to_vec())).collect()
    }

    /// Whether both have the same number of rows and columns.
    pub fn same_size(&self, other: &Self) -> bool {
        self.width == other.width && self.cells.len() == other.cells.len()
    }
}

impl fmt::Display for Grid {
    /// Writes compact JSON, `[[1,2],[3,4]]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.to_json())
    }
}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl Serialize for Grid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows())
    }
}

impl Cells {
    fn read(self, value: &Value) -> Result<u8, Fault> {
        let other = || Fault::NonInteger {
            value: short(&value.to_string()),
        };
        match value {
            Value::Number(number) => self.number(number),
            Value::String(text)
                if matches!(self, Self::Lenient | Self::Official | Self::Truncating) =>
            {
                let number = text.trim().parse::<i64>().map_err(|_| other())?;
                color(number)
            }
            Value::Bool(yes) if matches!(self, Self::Official | Self::Truncating) => {
                Ok(u8::from(*yes))
            }
            _ => Err(other()),
        }
    }

    fn number(self, number: &Number) -> Result<u8, Fault> {
        if let Some(integer) = number.as_i64() {
            return color(integer);
        }
        let float = number.as_f64().unwrap_or(f64::NAN);
        let whole = float.fract() == 0.0;
        match self {
            _ if number.is_u64() => Err(Fault::OutOfRange {
                value: number.to_string(),
            }),
            Self::Exact => Err(Fault::NonInteger {
                value: short(&number.to_string()),
            }),
            Self::Truncating if (0.0..=9.0).contains(&float) => Ok(float as u8),
            _ if !whole => Err(Fault::NonInteger {
                value: short(&number.to_string()),
            }),
            _ if (0.0..=9.0).contains(&float) => Ok(float as u8),
            _ => Err(Fault::OutOfRange {
                value: short(&number.to_string()),
            }),
        }
    }
}

fn color(number: i64) -> Result<u8, Fault> {
    match u8::try_from(number) {
        Ok(color @ 0..=9) => Ok(color),
        _ => Err(Fault::OutOfRange {
            value: number.to_string(),
        }),
    }
}

/// What a JSON value is, in words.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The beginning of a text, for messages.
pub(crate) fn short(text: &str) -> String {
    let mut letters = text.chars();
    let begin: String = letters.by_ref().take(24).collect();
    if letters.next().is_some() {
        format!("{begin}…")
    } else {
        begin
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exact(value: &Value) -> Result<Grid, Fault> {
        Grid::from_json(value, Cells::Exact)
    }

    #[test]
    fn bounds_hold() {
        assert_eq!(
            exact(&json!([[1, 2], [3, 4]])).unwrap().to_string(),
            "[[1,2],[3,4]]"
        );
        assert_eq!(exact(&json!(vec![vec![0; 30]; 30])).unwrap().height(), 30);
        assert_eq!(exact(&json!(vec![vec![0; 31]])), Err(Fault::TooLarge));
        assert_eq!(exact(&json!(vec![vec![0]; 31])), Err(Fault::TooLarge));
        assert_eq!(exact(&json!([])), Err(Fault::Empty));
        assert_eq!(exact(&json!([[]])), Err(Fault::Empty));
        assert_eq!(
            exact(&json!([[1, 2], [3]])),
            Err(Fault::Ragged {
                row: 2,
                expected: 2,
                found: 1
            })
        );
        assert_eq!(
            exact(&json!([[[1]], [[2]]])),
            Err(Fault::ThreeDimensional { grids: 2 })
        );
        assert_eq!(
            exact(&json!([[10]])),
            Err(Fault::OutOfRange { value: "10".into() })
        );
        assert_eq!(
            exact(&json!([[-1]])),
            Err(Fault::OutOfRange { value: "-1".into() })
        );
        assert_eq!(
            exact(&json!([[18_446_744_073_709_551_615_u64]]))
                .unwrap_err()
                .kind(),
            "out-of-range"
        );
        assert!(matches!(exact(&json!([1, 2])), Err(Fault::NotAGrid { .. })));
    }

    #[test]
    fn each_rule_takes_its_own_cells() {
        let takes = |rule| {
            [json!(1.0), json!("1"), json!(true), json!(1.5), json!(null)]
                .map(|cell| Grid::from_json(&json!([[cell]]), rule).is_ok())
        };
        assert_eq!(takes(Cells::Exact), [false; 5]);
        assert_eq!(takes(Cells::Lenient), [true, true, false, false, false]);
        assert_eq!(takes(Cells::Official), [true, true, true, false, false]);
        assert_eq!(takes(Cells::Truncating), [true, true, true, true, false]);
        assert_eq!(takes(Cells::Script), [true, false, false, false, false]);
    }
}
