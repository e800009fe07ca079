// @ts-check
/**
 * A person plays: keys, clicks and touches become commands, answers become pictures.
 *
 * Commands go one at a time; what is pressed meanwhile waits, up to a few, and cuts animations short. Nothing waits while the connection
 * is lost, because what a player presses in the dark is no decision.
 */

import { CELLS, CLICK, RESET, Reel, SIZE, bytesOf } from "./reel.js";
import { COLOR_NAMES, RhaeBoard, marksAreOn, setMarks } from "./board.js";
import { Line } from "./line.js";

const MOST_WAITING = 4;
/** How long a completed level stays in sight before the next one. */
const COMPLETED_MS = 700;
const UNDO = 7;
/** @type {Record<string, number>} */
const KEYS = {
  ArrowUp: 1, KeyW: 1, ArrowDown: 2, KeyS: 2, ArrowLeft: 3, KeyA: 3, ArrowRight: 4, KeyD: 4, Space: 5, KeyZ: UNDO, Backspace: UNDO,
};
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** @typedef {{guid: string, state: string, level: number, levels_completed: number, win_levels: number, full_reset: boolean,
 *   counted: boolean, available_actions: number[], packed: string}} CompactAnswer
 * @typedef {{action: number, x?: number, y?: number}} Wish */

const page = /** @type {HTMLElement} */ (document.querySelector(".play"));
const game = page.dataset.game ?? "";
const board = /** @type {RhaeBoard} */ (page.querySelector("rhae-board"));
const frameMs = 1000 / Math.max(1, Math.min(60, Number(page.dataset.speed)));
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @param {string} name */
const part = (name) => /** @type {HTMLElement} */ (page.querySelector(`[data-show=${name}]`));
const question = /** @type {HTMLDialogElement} */ (part("ask"));
const line = new Line(game, (lost) => {
  part("line").hidden = !lost;
  page.classList.toggle("lost-line", lost);
  if (lost) waiting.length = 0;
});

let guid = "";
let card = "";
let state = "NOT_FINISHED";
let actions = 0;
let completed = 0;
/** Whether RESET would start the whole game anew. */
let fresh = true;
let ready = false;
let busy = false;
/** @type {Set<number>} */
let offered = new Set((page.dataset.actions ?? "").split(" ").filter(Boolean).map(Number));
/** @type {Wish[]} */
const waiting = [];
/** Ends the animation that is shown. @type {(() => void) | null} */
let skip = null;
/** Where a click by keyboard would go. */
const cursor = { x: SIZE / 2, y: SIZE / 2, shown: false };

/** @param {number} ms @returns {Promise<void>} until it is over or skipped */
function rest(ms) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      skip = null;
      done();
    };
    const timer = setTimeout(end, ms);
    skip = end;
  });
}

/** Says something to those who listen. @param {string} text */
function say(text) {
  part("said").textContent = text;
}

/** Shows counts, dots and which buttons there are. */
function showFacts() {
  const levels = Number(page.dataset.levels);
  part("level").textContent = String(Math.min(completed + 1, levels));
  part("actions").textContent = String(actions);
  part("dots").querySelectorAll("i").forEach((dot, at) => {
    dot.classList.toggle("on", at < completed);
    dot.classList.toggle("now", at === completed && state !== "WIN");
  });
  for (const button of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("button[data-action]"))) {
    button.hidden = !offered.has(Number(button.dataset.action));
  }
  page.classList.toggle("clicks", offered.has(CLICK));
  page.classList.toggle("quiet-pad", ![1, 2, 3, 4, 5].some((action) => offered.has(action)));
}

/** Shows how it ended, or nothing. */
function showOutcome() {
  const outcome = part("outcome");
  const name = state === "WIN" ? "won" : state === "GAME_OVER" ? "lost" : null;
  outcome.hidden = name === null;
  outcome.replaceChildren();
  if (!name) return;
  outcome.append(/** @type {HTMLTemplateElement} */ (part(name)).content.cloneNode(true));
  outcome.querySelector("[data-show=replay]")?.setAttribute("href", `/replay/${guid}`);
  /** @type {HTMLElement | null} */ (outcome.querySelector("button, a"))?.focus({ preventScroll: true });
}

/**
 * Shows an answer, frame by frame.
 * @param {CompactAnswer} answer @param {boolean} moving whether animations are shown
 */
async function show(answer, moving) {
  const before = completed;
  const reel = new Reel(bytesOf(answer.packed));
  const finished = answer.levels_completed > before && answer.state !== "WIN" && reel.length > 1;
  // A new level's first frame comes last; what led to the end of the old one is seen first.
  const stay = finished ? reel.length - 2 : reel.length - 1;
  ({ guid, state } = answer);
  offered = new Set(answer.available_actions);
  completed = answer.levels_completed;
  showFacts();
  if (moving && !still.matches) {
    for (let frame = 0; frame < stay && waiting.length === 0; frame++) {
      board.show(reel.frame(frame));
      await rest(frameMs);
    }
  }
  if (finished && moving) {
    board.show(reel.frame(stay));
    page.classList.add("completed");
    say(`Level ${before + 1} completed. Level ${answer.level} of ${answer.win_levels}.`);
    await rest(COMPLETED_MS);
    page.classList.remove("completed");
  }
  board.show(reel.frame(reel.length - 1), { ring: cursor.shown ? cursor : null });
  if (answer.state === "WIN") say(`All ${answer.win_levels} levels completed.`);
  if (answer.state === "GAME_OVER") say("Game over. Press R to try the level again.");
  showOutcome();
}

/** Carries out what was wished, one after the other. */
async function work() {
  if (busy || !ready) return;
  busy = true;
  for (let wish = waiting.shift(); wish; wish = waiting.shift()) {
    const { action, ...place } = wish;
    if (action !== RESET && state !== "NOT_FINISHED") continue;
    const answer = await line.command(`/api/cmd/${action === RESET ? "RESET" : `ACTION${action}`}`, { game_id: game, guid, ...place });
    if (answer.status !== 200) {
      await begin();
      continue;
    }
    const levels = completed;
    if (answer.data.counted) actions++;
    if (answer.data.full_reset) say("From the start. Level 1.");
    fresh = action === RESET || answer.data.levels_completed !== levels;
    await show(answer.data, true);
  }
  busy = false;
}

/** @param {Wish} wish */
function want(wish) {
  if (!ready || line.lost || (wish.action !== RESET && !offered.has(wish.action))) return;
  if (waiting.length < MOST_WAITING) waiting.push(wish);
  skip?.();
  void work();
}

/** Starts anew, after asking if that is the whole game. */
function reset() {
  if (!ready || line.lost) return;
  if (!fresh && state !== "WIN") return startAnew();
  if (completed === 0 && state !== "WIN") return;
  question.returnValue = "no";
  question.showModal();
}

function startAnew() {
  want({ action: RESET });
  board.focus({ preventScroll: true });
}

/** Finds the visitor's play, or opens one. */
async function begin() {
  if (page.dataset.known === "no" || !ready) await line.ask("/visit", { method: "POST" });
  const pending = line.pending();
  if (pending) await line.finish(pending);
  const found = await line.ask(`/play/${game}/state`);
  if (found.status === 401) return location.assign("/enter");
  if (found.status !== 200) return refuse(found.data?.message);
  if (found.data.answer) {
    ({ card_id: card, actions, reset_starts_anew: fresh } = found.data);
    completed = found.data.answer.levels_completed;
    await show(found.data.answer, false);
    return;
  }
  card = found.data.card_id ?? "";
  if (!card) {
    const opened = await line.command("/api/scorecard/open", { tags: ["human", "browser"] });
    if (opened.status !== 200) return refuse(opened.data?.message);
    card = opened.data.card_id;
  }
  const opened = await line.command("/api/cmd/RESET", { game_id: game, card_id: card });
  if (opened.status !== 200) return refuse(opened.data?.message);
  [actions, completed, fresh] = [0, 0, true];
  await show(opened.data, false);
}

/** @param {string} [reason] */
function refuse(reason) {
  const place = part("line");
  place.textContent = reason ?? "This cannot be played now.";
  place.hidden = false;
  offered = new Set();
  showFacts();
}

/** @param {number} dx @param {number} dy */
function moveCursor(dx, dy) {
  const within = (/** @type {number} */ at) => Math.max(0, Math.min(SIZE - 1, at));
  [cursor.x, cursor.y, cursor.shown] = [within(cursor.x + dx), within(cursor.y + dy), true];
  board.ring(cursor);
  const color = COLOR_NAMES[board.cells[(cursor.y * SIZE + cursor.x) % CELLS] & 15];
  say(`Column ${cursor.x}, row ${cursor.y}, ${color}`);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) {
    if ((event.ctrlKey || event.metaKey) && event.code === "KeyZ" && offered.has(UNDO)) {
      event.preventDefault();
      want({ action: UNDO });
    }
    return;
  }
  const on = /** @type {Element} */ (event.target);
  const pressing = on.closest("button, a, dialog");
  if (question.open || (pressing && ["Space", "Enter"].includes(event.code))) return;
  const move = MOVES[event.code];
  const points = offered.has(CLICK) && (event.shiftKey || ![1, 2, 3, 4].some((action) => offered.has(action)));
  if (move && points) {
    const step = event.repeat ? 2 : 1;
    moveCursor(move[0] * step, move[1] * step);
  } else if (event.code === "Enter" && offered.has(CLICK)) {
    moveCursor(0, 0);
    want({ action: CLICK, x: cursor.x, y: cursor.y });
  } else if (event.code === "KeyR") {
    reset();
  } else if (event.code in KEYS && !event.shiftKey) {
    // A key that is held goes on, but never ahead of what is seen.
    if (!event.repeat || !busy) want({ action: KEYS[event.code] });
  } else if (event.code === "Escape") {
    skip?.();
    return;
  } else {
    return;
  }
  event.preventDefault();
}

document.addEventListener("keydown", onKey);
// A dialog says that it was closed only after a while. By then it may have been opened again, and nothing has been answered; or even closed
// again, and the answer, which is said twice now, counts once.
question.addEventListener("close", () => {
  if (question.open || question.returnValue !== "yes") return;
  question.returnValue = "no";
  startAnew();
});
board.addEventListener("rhae-cell", (event) => {
  const { x, y } = /** @type {CustomEvent<{x: number, y: number}>} */ (event).detail;
  cursor.shown = false;
  if (offered.has(CLICK)) want({ action: CLICK, x, y });
  else skip?.();
});
page.addEventListener("click", (event) => {
  const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button[data-action], button[data-do]"));
  if (!button) return;
  // A button that was pressed by hand does not keep the space bar.
  if (event.detail > 0) button.blur();
  if (button.dataset.do === "reset") reset();
  else if (button.dataset.do === "signs") {
    setMarks(!marksAreOn());
    button.setAttribute("aria-pressed", String(marksAreOn()));
  } else want({ action: Number(button.dataset.action) });
});
page.querySelector("[data-do=signs]")?.setAttribute("aria-pressed", String(marksAreOn()));

showFacts();
await begin();
ready = true;
page.classList.add("ready");
say(`Level ${Math.min(completed + 1, Number(page.dataset.levels))} of ${page.dataset.levels}.`);
