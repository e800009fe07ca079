//! How long code of a game and of an engine takes, counted from one function's beginning or end to the next one's.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Whose a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// The game's file.
    Game,
    /// The engine's folder.
    Engine,
    /// Nobody's yet: what runs before the engine is called.
    Nobody,
}

/// Adds up the time in which a function of each owner is the innermost that has one. The interpreter tells it when functions begin
/// and end, through `sys.monitoring`.
#[pyclass(module = "rhae._native")]
pub(crate) struct Clock {
    game: String,
    engine: String,
    /// What functions are known to be, by their code, which is kept so that no other one gets its place. `None`: their caller's.
    known: HashMap<usize, (Py<PyAny>, Option<Owner>)>,
    /// The owners of the callers.
    callers: Vec<Owner>,
    current: Owner,
    since: Instant,
    time: [Duration; 3],
    events: [u64; 3],
}

#[pymethods]
impl Clock {
    /// A clock for the game in a file and the engine in a folder.
    #[new]
    fn new(game: String, engine: String) -> Self {
        Self {
            game,
            engine,
            known: HashMap::new(),
            callers: Vec::new(),
            current: Owner::Nobody,
            since: Instant::now(),
            time: [Duration::ZERO; 3],
            events: [0; 3],
        }
    }

    /// A function begins, or goes on; what else is said about it does not matter.
    #[pyo3(signature = (code, _at, _what = None))]
    fn begin(
        &mut self,
        code: &Bound<'_, PyAny>,
        _at: &Bound<'_, PyAny>,
        _what: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let owner = match self.known.get(&(code.as_ptr() as usize)) {
            Some((_, owner)) => *owner,
            None => self.learn(code)?,
        };
        self.callers.push(self.current);
        self.turn(owner.unwrap_or(self.current));
        Ok(())
    }

    /// A function ends, or pauses.
    fn end(&mut self, _code: &Bound<'_, PyAny>, _at: &Bound<'_, PyAny>, _what: &Bound<'_, PyAny>) {
        // Functions that were there before the clock are nobody's.
        let caller = self.callers.pop().unwrap_or(Owner::Nobody);
        self.turn(caller);
    }

    /// The seconds of the game and of the engine, and how many beginnings and ends fell into each.
    fn read(&self) -> [(f64, u64); 2] {
        [Owner::Game, Owner::Engine].map(|owner| {
            (
                self.time[owner as usize].as_secs_f64(),
                self.events[owner as usize],
            )
        })
    }
}

impl Clock {
    fn turn(&mut self, owner: Owner) {
        self.events[self.current as usize] += 1;
        if owner != self.current {
            let now = Instant::now();
            self.time[self.current as usize] += now - self.since;
            (self.current, self.since) = (owner, now);
        }
    }

    fn learn(&mut self, code: &Bound<'_, PyAny>) -> PyResult<Option<Owner>> {
        let file: String = code.getattr("co_filename")?.extract()?;
        let owner = if file == self.game {
            Some(Owner::Game)
        } else if file.starts_with(&self.engine) {
            Some(Owner::Engine)
        } else {
            None
        };
        self.known
            .insert(code.as_ptr() as usize, (code.clone().unbind(), owner));
        Ok(owner)
    }
}
