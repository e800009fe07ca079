//! Grids: 1 to 30 rows of 1 to 30 cells, each cell a colour from 0 to 9.
//!
//! Invariant: every [`Grid`] is rectangular and within these bounds. The constructors return a
//! [`GridError`] for everything else.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

/// The maximum number of rows and of columns of a grid.
pub const MAX_GRID_SIDE: usize = 30;

/// A rectangle of cells with colours from 0 to 9.
///
/// # Examples
///
/// ```
/// use rhae_tasks::{CellRule, Grid, GridError};
/// use serde_json::json;
///
/// let grid = Grid::new(&[vec![1, 2, 3], vec![4, 5, 6]])?;
/// assert_eq!((grid.width(), grid.height()), (3, 2));
/// assert_eq!(grid.to_string(), "[[1,2,3],[4,5,6]]");
///
/// let error = Grid::from_json(&json!([[1, 2], [3]]), CellRule::Exact).unwrap_err();
/// assert_eq!(error, GridError::Ragged { row: 2, expected: 2, found: 1 });
/// # Ok::<(), GridError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grid {
    width: usize,
    cells: Vec<u8>,
}

/// The reason why a value is not a grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// There are no rows, or the first row has no cells.
    #[error("the grid has no cells")]
    Empty,
    /// The rows have different lengths.
    #[error("row {row} has {found} cells, but the first has {expected}")]
    Ragged {
        /// The number of the row, from 1.
        row: usize,
        /// The length of the first row.
        expected: usize,
        /// The length of this row.
        found: usize,
    },
    /// There are more than [`MAX_GRID_SIDE`] rows or columns.
    #[error("the grid is larger than {MAX_GRID_SIDE} by {MAX_GRID_SIDE}")]
    TooLarge,
    /// A cell is an integer, but not a colour.
    #[error("`{value}` is not a colour: expected 0 to 9")]
    OutOfRange {
        /// The cell as text, shortened.
        value: String,
    },
    /// A cell is not an integer.
    #[error("`{value}` is not a whole number")]
    NonInteger {
        /// The cell as text, shortened.
        value: String,
    },
    /// A list of grids was found where one grid is expected.
    #[error("expected one grid, found a list of {grids} grids")]
    ThreeDimensional { grids: usize },
    /// The value is not a list of rows.
    #[error("{what}")]
    NotAGrid {
        /// The complete message.
        what: String,
    },
}

impl GridError {
    /// Returns the name of the error in tables and results, for example `ragged`.
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

/// The rule that decides which JSON values are accepted as cells.
///
/// The published harnesses differ here. To reproduce their scores, answers are read with the rule
/// of the respective harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellRule {
    /// Accepts only integers. Data sets are read with this rule.
    Exact,
    /// Accepts integers, `1.0` and `"1"`.
    Lenient,
    /// Accepts integers, `1.0`, `"1"` and `true`, like the validation of the official harness.
    Official,
    /// Accepts everything that Nejumi's conversion to an array of small integers accepts: fractions
    /// are truncated, `"1"` and `true` are converted.
    Truncating,
    /// Accepts integers and `1.0`, like strict equality in JavaScript.
    JavaScript,
}

impl Grid {
    /// Creates a grid from rows.
    ///
    /// # Errors
    ///
    /// Returns an error if there are no rows or the first row is empty, if there are more than
    /// [`MAX_GRID_SIDE`] rows or columns, if the rows have different lengths, or if a cell is above
    /// 9.
    pub fn new(rows: &[Vec<u8>]) -> Result<Self, GridError> {
        let width = rows.first().map_or(0, Vec::len);
        if width == 0 {
            return Err(GridError::Empty);
        }
        if rows.len() > MAX_GRID_SIDE || width > MAX_GRID_SIDE {
            return Err(GridError::TooLarge);
        }
        if let Some((row, cells)) = rows.iter().enumerate().find(|(_, row)| row.len() != width) {
            return Err(GridError::Ragged {
                row: row + 1,
                expected: width,
                found: cells.len(),
            });
        }
        let cells: Vec<u8> = rows.concat();
        match cells.iter().find(|&&cell| cell > 9) {
            Some(cell) => Err(GridError::OutOfRange {
                value: cell.to_string(),
            }),
            None => Ok(Self { width, cells }),
        }
    }

    /// Creates a grid from a JSON list of lists of numbers.
    ///
    /// # Errors
    ///
    /// Returns an error if `value` is not a list of lists, if `cells` rejects a cell, or if the
    /// rows do not form a grid.
    pub fn from_json(value: &Value, cells: CellRule) -> Result<Self, GridError> {
        let Value::Array(lines) = value else {
            return Err(GridError::NotAGrid {
                what: format!("expected a list of rows, found {}", kind(value)),
            });
        };
        // Reject oversized input before reading its cells.
        if lines.len() > MAX_GRID_SIDE
            || lines.iter().any(|line| {
                line.as_array()
                    .is_some_and(|line| line.len() > MAX_GRID_SIDE)
            })
        {
            return Err(GridError::TooLarge);
        }
        let is_grid = |line: &Value| {
            line.as_array()
                .is_some_and(|line| !line.is_empty() && line.iter().all(Value::is_array))
        };
        if !lines.is_empty() && lines.iter().all(is_grid) {
            return Err(GridError::ThreeDimensional { grids: lines.len() });
        }
        let mut rows = Vec::with_capacity(lines.len());
        for line in lines {
            let Value::Array(line) = line else {
                return Err(GridError::NotAGrid {
                    what: format!("expected a row of numbers, found {}", kind(line)),
                });
            };
            rows.push(
                line.iter()
                    .map(|cell| cells.read(cell))
                    .collect::<Result<Vec<u8>, GridError>>()?,
            );
        }
        Self::new(&rows)
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Returns the rows from top to bottom.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.cells.chunks_exact(self.width)
    }

    /// Returns all cells in row-major order.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// Converts the grid to a JSON list of rows.
    pub fn to_json(&self) -> Value {
        self.rows().map(|row| Value::from(row.to_vec())).collect()
    }

    /// Returns whether both grids have the same number of rows and columns.
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

impl CellRule {
    fn read(self, value: &Value) -> Result<u8, GridError> {
        let other = || GridError::NonInteger {
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

    fn number(self, number: &Number) -> Result<u8, GridError> {
        if let Some(integer) = number.as_i64() {
            return color(integer);
        }
        let float = number.as_f64().unwrap_or(f64::NAN);
        let whole = float.fract() == 0.0;
        match self {
            _ if number.is_u64() => Err(GridError::OutOfRange {
                value: number.to_string(),
            }),
            Self::Exact => Err(GridError::NonInteger {
                value: short(&number.to_string()),
            }),
            Self::Truncating if (0.0..=9.0).contains(&float) => Ok(float as u8),
            _ if !whole => Err(GridError::NonInteger {
                value: short(&number.to_string()),
            }),
            _ if (0.0..=9.0).contains(&float) => Ok(float as u8),
            _ => Err(GridError::OutOfRange {
                value: short(&number.to_string()),
            }),
        }
    }
}

fn color(number: i64) -> Result<u8, GridError> {
    match u8::try_from(number) {
        Ok(color @ 0..=9) => Ok(color),
        _ => Err(GridError::OutOfRange {
            value: number.to_string(),
        }),
    }
}

/// Returns a description of the type of a JSON value for messages.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Shortens a text to 24 characters for messages.
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

    fn exact(value: &Value) -> Result<Grid, GridError> {
        Grid::from_json(value, CellRule::Exact)
    }

    #[test]
    fn grids_outside_the_bounds_are_rejected() {
        assert_eq!(
            exact(&json!([[1, 2], [3, 4]])).unwrap().to_string(),
            "[[1,2],[3,4]]"
        );
        assert_eq!(exact(&json!(vec![vec![0; 30]; 30])).unwrap().height(), 30);
        assert_eq!(exact(&json!(vec![vec![0; 31]])), Err(GridError::TooLarge));
        assert_eq!(exact(&json!(vec![vec![0]; 31])), Err(GridError::TooLarge));
        assert_eq!(exact(&json!([])), Err(GridError::Empty));
        assert_eq!(exact(&json!([[]])), Err(GridError::Empty));
        assert_eq!(
            exact(&json!([[1, 2], [3]])),
            Err(GridError::Ragged {
                row: 2,
                expected: 2,
                found: 1
            })
        );
        assert_eq!(
            exact(&json!([[[1]], [[2]]])),
            Err(GridError::ThreeDimensional { grids: 2 })
        );
        assert_eq!(
            exact(&json!([[10]])),
            Err(GridError::OutOfRange { value: "10".into() })
        );
        assert_eq!(
            exact(&json!([[-1]])),
            Err(GridError::OutOfRange { value: "-1".into() })
        );
        assert_eq!(
            exact(&json!([[18_446_744_073_709_551_615_u64]]))
                .unwrap_err()
                .kind(),
            "out-of-range"
        );
        assert!(matches!(
            exact(&json!([1, 2])),
            Err(GridError::NotAGrid { .. })
        ));
    }

    #[test]
    fn each_cell_rule_accepts_its_values() {
        let takes = |rule| {
            [json!(1.0), json!("1"), json!(true), json!(1.5), json!(null)]
                .map(|cell| Grid::from_json(&json!([[cell]]), rule).is_ok())
        };
        assert_eq!(takes(CellRule::Exact), [false; 5]);
        assert_eq!(takes(CellRule::Lenient), [true, true, false, false, false]);
        assert_eq!(takes(CellRule::Official), [true, true, true, false, false]);
        assert_eq!(takes(CellRule::Truncating), [true, true, true, true, false]);
        assert_eq!(
            takes(CellRule::JavaScript),
            [true, false, false, false, false]
        );
    }
}
