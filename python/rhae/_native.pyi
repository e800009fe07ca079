"""The functions and classes of the extension module.

The functions that speed up `rhae.arcengine` return the same result as the Python code at their call
site, or `NotImplemented` if that code must run instead.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rhae._hosting import GamesRequest

_T = TypeVar("_T")

__version__: str

class Copier:
    """One deep copy of a game, which also serves as the memo of `copy.deepcopy` calls within it."""

    def __init__(self, outer: dict[int, Any], ours: tuple[type, ...], handlers: dict[type, Any], fallback: Any) -> None: ...
    def copy(self, object: Any) -> Any: ...
    def remember(self, object: Any, copy: Any) -> None: ...
    def report(self) -> None: ...
    def get(self, address: int, default: Any = None) -> Any: ...
    def __getitem__(self, address: int) -> Any: ...
    def __setitem__(self, address: int, copy: Any) -> None: ...

def cached_classes() -> int: ...

class Memento:
    """The state of a game at one time."""

    def restore(self) -> bool: ...
    def is_current(self) -> bool: ...
    def __len__(self) -> int: ...

class Recorder:
    """Reads the states of games."""

    def __init__(
        self,
        atomic: frozenset[type],
        atomic_bases: tuple[type, ...],
        generators: dict[type, tuple[Any, Any]],
        classes: list[type],
        packages: list[str],
        left_out: list[str],
    ) -> None: ...
    def capture(self, game: Any, modules: list[Any], earlier: Memento | None = None) -> Memento | None: ...
    def digest(self, value: Any, modules: list[Any]) -> bytes: ...
    def cached_classes(self) -> int: ...

def register_camera_class(camera: type) -> None: ...
def register_sprite_class(sprite: type, interactions: list[Any], blockings: list[Any]) -> None: ...
def clone_sprites(sprites: Any, build: Any) -> Any: ...
def frame_data(cls: type, given: set[str], game: Any, action: Any, frames: list[Any]) -> Any: ...
def new_model(cls: type, values: dict[str, Any], given: set[str], private: dict[str, Any] | None) -> Any: ...
def remap_colors(pixels: Any, old: Any, new: Any) -> Any: ...
def state_key(cells: bytes, levels_completed: int, state: int, hidden: bytes | None) -> bytes: ...
def representative_clicks(cells: bytes, sprites: list[tuple[int, int]]) -> list[tuple[int, int]]: ...
def click_points(sprites: Any, zoom: Any, left: Any, top: Any) -> Any: ...
def click_inputs(cls: type[_T], action: Any, points: list[tuple[Any, Any]]) -> list[_T]: ...
def render_sprite(sprite: Any) -> Any: ...
def rendered_size(sprite: Any) -> Any: ...
def render_view(camera: Any, sprites: Any) -> Any: ...
def render_frame(camera: Any, sprites: Any) -> Any: ...
def draw_on_view(view: Any, sprite: Any, x: Any, y: Any) -> bool: ...
def enlarge_view(letter_box: Any, view: Any, zoom: Any, left: Any, top: Any) -> Any: ...
def draw_pairs(display: Any, pairs: Any) -> Any: ...
def draw_sprite(display: Any, sprite: Any, x: Any, y: Any) -> Any: ...
def collides(one: Any, two: Any, ignore_mode: bool) -> Any: ...
def collisions(one: Any, sprites: Any, ignore_mode: bool) -> Any: ...
def sprites_with_tag(sprites: Any, tag: Any) -> Any: ...
def sprites_with_all_tags(sprites: Any, tags: Any) -> Any: ...
def sprites_with_any_tag(sprites: Any, tags: Any) -> Any: ...
def sprites_with_name(sprites: Any, name: Any) -> Any: ...
def sprite_at(sprites: Any, x: Any, y: Any, tag: Any, ignore_collidable: bool) -> Any: ...

class StepResult:
    """The result of an action."""

    #: The frames, with the shape (n, 64, 64). The last one is the settled frame.
    frames: NDArray[np.uint8]
    #: The play state, such as ``"NOT_FINISHED"``.
    state: str
    levels_completed: int
    #: The number of all levels.
    win_levels: int
    available_actions: list[int]
    #: Whether the action restarted the game.
    full_reset: bool
    #: Whether the action was counted.
    counted: bool
    #: Whether the action changed the state.
    changed: bool

class GameFacts:
    """The metadata of an environment."""

    id: str
    #: Whether levels depend on the seed; ``None`` for a hosted game.
    seeded: bool | None
    hosted: bool
    #: The number of levels; 0 if it is not known yet.
    levels: int
    #: The baseline of each level; empty if the baselines are unknown.
    baselines: list[int]
    #: The official numbers of the actions that the environment offers.
    actions: list[int]

class Play:
    id: str
    facts: GameFacts
    seed: int
    level: int
    levels_completed: int
    action_count: int
    reset_restarts_game: bool
    def save(self) -> bytes: ...
    def observe(self) -> StepResult: ...
    def act(self, number: int, x: int, y: int) -> StepResult: ...
    def act_flat(self, number: int) -> StepResult: ...
    def fork(self) -> Play: ...

class GameSet:
    """The built-in environments, or the hosted games of some folders."""

    def __init__(self, request: GamesRequest) -> None: ...
    def list(self) -> str: ...
    def open(self, id: str, seed: int, levels_only: bool, level: int = 1, saved: bytes | None = None) -> Play: ...

class Snapshot:
    def __len__(self) -> int: ...

class Vector:
    #: The environments, each with the index of its first play and that after its last.
    blocks: list[tuple[GameFacts, int, int]]
    observations: NDArray[np.uint8]
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    levels_completed: NDArray[np.int64]
    level: NDArray[np.int64]
    action_count: NDArray[np.int64]
    changed: NDArray[np.bool_]
    action_mask: NDArray[np.bool_]
    def __init__(
        self,
        games: GameSet,
        ids: list[str],
        count: int,
        threads: int,
        level: int | None,
        max_actions: int | None,
        continue_after_loss: bool,
        observation: str,
    ) -> None: ...
    def reset(self, seeds: list[int] | None, chosen: NDArray[np.bool_] | None) -> None: ...
    def step(self, numbers: NDArray[np.int64]) -> None: ...
    def snapshot(self) -> Snapshot: ...
    def restore(self, snapshot: Snapshot, plays: list[int] | None) -> None: ...
    def save(self) -> bytes: ...
    def load(self, saved: bytes) -> None: ...

def check_actions(numbers: NDArray[np.int64], plays: int) -> None: ...
def observation_shape(observation: str) -> list[int]: ...
def observation(frame: NDArray[np.uint8], observation: str) -> NDArray[np.uint8]: ...
def level_score(method: str, baseline: int, actions: int) -> float: ...
def games() -> str: ...
def methods() -> list[str]: ...
def palette() -> NDArray[np.uint8]: ...
def png(frames: NDArray[np.uint8], columns: int, zoom: int) -> bytes: ...

class Replay:
    """The replay of a recording."""

    #: The play at the end of its recording, or at the first mismatch.
    play: Play
    #: The guid that the recording contains.
    guid: str | None
    #: The first entry that does not match, counted from 1; ``None`` if all match.
    mismatch_entry: int | None
    #: How that entry differs; ``None`` if all match.
    mismatch_reason: str | None

def replay_recording(text: str, games: GamesRequest) -> Replay: ...

class ExploreProgress:
    """The progress of :func:`rhae.explore`."""

    #: ``"entering"`` (searching for wins of the earlier levels of a hosted game), ``"searching"`` or
    #: ``"analysing"``.
    phase: str
    #: The number of states found so far.
    states: int
    #: The depth of the states that are searched; 0 in the other phases.
    depth: int

class ValidateProgress:
    """The progress of :func:`rhae.validate`."""

    #: The number of steps that are done.
    steps: int
    #: The estimated number of all steps.
    total_steps: int
    #: The environment whose check began last.
    game_id: str
    #: The check that began last.
    check: str

class RunProgress:
    """The progress of :func:`rhae.run`."""

    #: The number of plays that have ended.
    done: int
    #: The number of all plays.
    total: int
    #: The number of levels completed in the plays that have ended.
    levels: int
    #: The number of actions taken, including those of running plays.
    actions: int

class ComparisonPage:
    """A comparison as a page."""

    html: str
    #: Notes about replays that are missing.
    notes: list[str]

class Comparison:
    def json(self) -> str: ...
    def text(self, width: int) -> str: ...
    def csv(self) -> str: ...
    def page(self, replays: bool) -> ComparisonPage: ...

def compare(
    folders: list[str], force: bool, seen: list[str] | None, unseen: list[str] | None, games: GamesRequest
) -> Comparison: ...
def load_runs(folders: list[str], games: GamesRequest) -> str: ...
def explore(request: Any, games: GamesRequest, progress: Callable[[ExploreProgress], object] | None) -> str: ...
def validate(request: Any, games: GamesRequest, progress: Callable[[ValidateProgress], object] | None) -> str: ...
def run(arguments: Any, games: GamesRequest, progress: Callable[[RunProgress], object] | None) -> str: ...
def launch(arguments: list[str]) -> int: ...
def scorecard(facts: str, plays: list[tuple[Play, str]], expected: GameSet | None, method: str) -> str: ...

class ClockReading:
    """What a clock has measured. An event is the start or the end of a function."""

    game_seconds: float
    game_events: int
    engine_seconds: float
    engine_events: int

class Clock:
    def __init__(self, game: str, engine: str) -> None: ...
    def begin(self, code: Any, at: Any, what: Any = None) -> None: ...
    def end(self, code: Any, at: Any, what: Any) -> None: ...
    def read(self) -> ClockReading: ...

class Object:
    id: int
    color: int
    area: int
    bounds: tuple[int, int, int, int]
    center: tuple[int, int]
    holes: int
    parent: int | None
    neighbours: list[int]
    shape: int
    canonical_shape: int

class Island:
    bounds: tuple[int, int, int, int]
    container: int
    objects: list[int]

class Change:
    kind: str
    before: int | None
    after: int | None
    dx: int
    dy: int
    symmetry: str | None
    colors: tuple[int, int] | None

class AnimationEvent:
    kind: str
    first_frame: int
    last_frame: int
    color: int
    before: tuple[int, int, int, int] | None
    after: tuple[int, int, int, int] | None
    dx: int
    dy: int

class Indicator:
    kind: str
    bounds: tuple[int, int, int, int]
    rest: int | None
    actions_left: int | None

class ClickCandidate:
    x: int
    y: int
    object: int
    click_class: tuple[int, int, int, int | None]

class Grid:
    cell: int
    offset_x: int
    offset_y: int
    bounds: tuple[int, int, int, int]

class StatusBars:
    def __init__(self) -> None: ...
    def start_attempt(self) -> None: ...
    def observe(self, action: int, before: NDArray[np.int8], after: NDArray[np.int8]) -> bool: ...
    @property
    def indicators(self) -> list[Indicator]: ...
    @property
    def mask(self) -> NDArray[np.bool_]: ...

class Composites:
    def __init__(self) -> None: ...
    def observe(self, before: NDArray[np.int8], after: NDArray[np.int8]) -> None: ...
    def group(self, frame: NDArray[np.int8]) -> list[int]: ...

def objects(frame: NDArray[np.int8]) -> list[Object]: ...
def islands(frame: NDArray[np.int8]) -> list[Island]: ...
def animation(settled: NDArray[np.int8], frames: list[NDArray[np.int8]]) -> list[AnimationEvent]: ...
def changes(before: NDArray[np.int8], after: NDArray[np.int8]) -> list[Change]: ...
def clicks(frame: NDArray[np.int8], ignored: NDArray[np.bool_] | None = None) -> list[ClickCandidate]: ...
def grid(frames: list[NDArray[np.int8]]) -> Grid: ...
