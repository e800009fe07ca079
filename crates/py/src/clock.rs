//! Measures how much time the code of a game and the code of an engine take.
//!
//! The time between two events (a function starts or ends) is attributed to one owner.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// The code that a function belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// A function of the game's file.
    Game,
    /// A function below the engine's folder.
    Engine,
    /// Code that runs before the engine is called.
    Other,
}

/// What a [`Clock`] has measured. An event is the start or the end of a function.
#[pyclass(frozen, get_all, module = "rhae._native")]
pub(crate) struct ClockReading {
    game_seconds: f64,
    game_events: u64,
    engine_seconds: f64,
    engine_events: u64,
}

/// Attributes time to the game and to the engine.
///
/// The time belongs to the innermost function on the stack that has an owner; a function of another
/// module (NumPy, the standard library) counts for its caller. The interpreter reports starts and
/// ends of functions through `sys.monitoring`.
#[pyclass(module = "rhae._native")]
pub(crate) struct Clock {
    game: String,
    engine: String,
    /// The owners of code objects, by address. `None` stands for the owner of the caller. The code
    /// object is kept alive so that its address stays unique.
    known: HashMap<usize, (Py<PyAny>, Option<Owner>)>,
    /// The owners of the functions on the stack below the current one.
    callers: Vec<Owner>,
    current: Owner,
    since: Instant,
    time: [Duration; 3],
    events: [u64; 3],
}

#[pymethods]
impl Clock {
    /// Creates a clock for the game in the file `game` and the engine in the folder `engine`.
    #[new]
    fn new(game: String, engine: String) -> Self {
        Self {
            game,
            engine,
            known: HashMap::new(),
            callers: Vec::new(),
            current: Owner::Other,
            since: Instant::now(),
            time: [Duration::ZERO; 3],
            events: [0; 3],
        }
    }

    /// Handles the start or resumption of a function.
    #[pyo3(signature = (code, _at, _what = None))]
    fn begin(
        &mut self,
        code: &Bound<'_, PyAny>,
        _at: &Bound<'_, PyAny>,
        _what: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let owner = match self.known.get(&(code.as_ptr() as usize)) {
            Some((_, owner)) => *owner,
            None => self.classify(code)?,
        };
        self.callers.push(self.current);
        self.switch_to(owner.unwrap_or(self.current));
        Ok(())
    }

    /// Handles the end or suspension of a function.
    fn end(&mut self, _code: &Bound<'_, PyAny>, _at: &Bound<'_, PyAny>, _what: &Bound<'_, PyAny>) {
        // The function started before monitoring did, so its owner is unknown.
        let caller = self.callers.pop().unwrap_or(Owner::Other);
        self.switch_to(caller);
    }

    /// Returns the time and the events of the game and of the engine so far.
    fn read(&self) -> ClockReading {
        let seconds = |owner| self.time[owner as usize].as_secs_f64();
        let events = |owner| self.events[owner as usize];
        ClockReading {
            game_seconds: seconds(Owner::Game),
            game_events: events(Owner::Game),
            engine_seconds: seconds(Owner::Engine),
            engine_events: events(Owner::Engine),
        }
    }
}

impl Clock {
    fn switch_to(&mut self, owner: Owner) {
        self.events[self.current as usize] += 1;
        if owner != self.current {
            let now = Instant::now();
            self.time[self.current as usize] += now - self.since;
            (self.current, self.since) = (owner, now);
        }
    }

    fn classify(&mut self, code: &Bound<'_, PyAny>) -> PyResult<Option<Owner>> {
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
