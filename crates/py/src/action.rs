//! Conversion of the action numbers in NumPy arrays to actions.

use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rhae_engine::{Action, ActionKind, SIZE};

/// The first number that stands for a click in the flat form. Clicks are numbered row by row.
pub(crate) const FIRST_CLICK: i64 = 8;

/// Returns the action with this official number. `x` and `y` are checked and used by ACTION6 only.
pub(crate) fn action(number: i64, x: i64, y: i64) -> PyResult<Action> {
    let wrong = |what: &str, value: i64, expected: &str| {
        PyValueError::new_err(format!("{what} must be {expected}, found {value}"))
    };
    let kind = u8::try_from(number).ok().and_then(ActionKind::from_id);
    let kind = kind.ok_or_else(|| wrong("an action", number, "a number from 0 (RESET) to 7"))?;
    if let Some(simple) = kind.simple() {
        return Ok(simple);
    }
    let cell = |name: &str, value: i64| {
        let inside = u8::try_from(value)
            .ok()
            .filter(|&value| usize::from(value) < SIZE);
        inside.ok_or_else(|| wrong(name, value, "a cell from 0 to 63"))
    };
    Ok(Action::Action6 {
        x: cell("x", x)?,
        y: cell("y", y)?,
    })
}

/// Returns the action for a number in the flat form: 0 to 7 without 6, and `8 + 64 * y + x` for a
/// click.
pub(crate) fn flat_action(number: i64) -> PyResult<Action> {
    let size = SIZE as i64;
    let click = number - FIRST_CLICK;
    if (0..size * size).contains(&click) {
        return action(6, click % size, click / size);
    }
    if number == 6 {
        return Err(PyValueError::new_err(
            "a click must name its cell: 8 + 64 * y + x, found 6",
        ));
    }
    if number >= FIRST_CLICK {
        return Err(PyValueError::new_err(format!(
            "an action must be a number from 0 to 4103, found {number}"
        )));
    }
    action(number, 0, 0)
}

/// Replaces the contents of `into` by the actions in an array: one row `(number, x, y)` per action,
/// or one number per action in the flat form.
pub(crate) fn actions(array: &PyReadonlyArrayDyn<'_, i64>, into: &mut Vec<Action>) -> PyResult<()> {
    into.clear();
    let numbers = array.as_array();
    match array.shape() {
        // Most arrays are contiguous. Reading them as a slice is several times as fast.
        [_, 3] if numbers.as_slice().is_some() => {
            let rows = numbers.to_slice().unwrap_or_default().as_chunks::<3>().0;
            rows.iter().try_for_each(|&[number, x, y]| {
                into.push(action(number, x, y)?);
                Ok(())
            })
        }
        [_] => numbers.iter().try_for_each(|&number| {
            into.push(flat_action(number)?);
            Ok(())
        }),
        [_, 3] => numbers.outer_iter().try_for_each(|row| {
            into.push(action(row[0], row[1], row[2])?);
            Ok(())
        }),
        shape => Err(PyValueError::new_err(format!(
            "actions must have the shape (n, 3) or (n,), found {shape:?}"
        ))),
    }
}

/// Checks an array of actions without executing them: its shape, its length and every action.
// An array from Python arrives by value.
#[allow(clippy::needless_pass_by_value)]
#[pyfunction]
pub(crate) fn check_actions(numbers: PyReadonlyArrayDyn<'_, i64>, plays: usize) -> PyResult<()> {
    let mut list = Vec::new();
    actions(&numbers, &mut list)?;
    if list.len() == plays {
        return Ok(());
    }
    let found = list.len();
    Err(PyValueError::new_err(format!(
        "expected {plays} actions, one for each play, found {found}"
    )))
}
