// @ts-check
/**
 * The board of a play with its inputs: turns key presses, clicks and touches into actions, one at a time, and shows the responses.
 *
 * Input during a command is queued, up to a few actions, and skips animations. The page decides how an action is executed; the stage
 * knows no server, play or environment.
 */

import { CELLS, CLICK, RESET, Reel, SIZE, bytesOf } from "./reel.js";
import { COLOR_NAMES, RhaeBoard, symbolsAreOn, setSymbols } from "./board.js";

const MAX_QUEUED = 4;
/** How long a completed level stays visible before the next one is shown. */
const COMPLETED_MS = 700;
const UNDO = 7;
/** @type {Record<string, number>} */
const KEYS = {
  ArrowUp: 1, KeyW: 1, ArrowDown: 2, KeyS: 2, ArrowLeft: 3, KeyA: 3, ArrowRight: 4, KeyD: 4, Space: 5, KeyZ: UNDO, KeyU: UNDO, Backspace: UNDO,
};
/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/**
 * @typedef {{state: string, level: number, levels_completed: number, win_levels: number, available_actions: number[], packed: string}} Shown
 * @typedef {{action: number, x?: number, y?: number}} Input
 * @typedef {{execute: (input: Input) => Promise<boolean>, reset: () => void, shown: () => void, completed: (answer: Shown, before: number) => string}} Hooks
 *   `execute` executes an action and shows its response; `false` drops the queue. `reset` is called when the player wants to reset.
 *   `shown` is called when the facts of a response are known, before its animation. `completed` describes a completed level.
 */

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class Stage {
  /** The actions that are available. @type {Set<number>} */
  available;
  state = "NOT_FINISHED";
  /** The number of completed levels. */
  completed = 0;
  /** Whether the stage accepts input, unless the connection is lost. */
  ready = false;
  /** Whether the connection is lost. */
  disconnected = false;
  board;
  #page;
  #hooks;
  #frameMs;
  #busy = false;
  /** @type {Input[]} */
  #queue = [];
  /** Skips the current animation. @type {(() => void) | null} */
  #skip = null;
  /** The cell that a click by keyboard targets. */
  #cursor = { x: SIZE / 2, y: SIZE / 2, shown: false };

  /** @param {HTMLElement} page @param {Hooks} hooks */
  constructor(page, hooks) {
    this.#page = page;
    this.#hooks = hooks;
    this.#frameMs = 1000 / Math.max(1, Math.min(60, Number(page.dataset.speed)));
    this.available = new Set((page.dataset.actions ?? "").split(" ").filter(Boolean).map(Number));
    this.board = /** @type {RhaeBoard} */ (page.querySelector("rhae-board"));
    document.addEventListener("keydown", (event) => this.#onKey(event));
    this.board.addEventListener("rhae-cell", (event) => {
      const { x, y } = /** @type {CustomEvent<{x: number, y: number}>} */ (event).detail;
      this.#cursor.shown = false;
      if (this.available.has(CLICK)) this.enqueue({ action: CLICK, x, y });
      else this.#skip?.();
    });
    page.addEventListener("click", (event) => this.#onButton(event));
    page.querySelector("[data-do=signs]")?.setAttribute("aria-pressed", String(symbolsAreOn()));
    this.showButtons();
  }

  /** The element that shows a part of the page. @param {string} name */
  part(name) {
    return /** @type {HTMLElement} */ (this.#page.querySelector(`[data-show=${name}]`));
  }

  /** Announces a text to screen readers. @param {string} text */
  announce(text) {
    this.part("announcement").textContent = text;
  }

  /** Shows the buttons of the available actions. */
  showButtons() {
    const { available } = this;
    for (const button of /** @type {NodeListOf<HTMLElement>} */ (this.#page.querySelectorAll("button[data-action]"))) {
      button.hidden = !available.has(Number(button.dataset.action));
    }
    this.#page.classList.toggle("clicks", available.has(CLICK));
    this.#page.classList.toggle("quiet-pad", ![1, 2, 3, 4, 5].some((action) => available.has(action)));
  }

  /**
   * Says that the connection is lost or restored. Nothing is queued while it is lost, because the player cannot see the effect of the input.
   * @param {boolean} lost
   */
  setDisconnected(lost) {
    this.disconnected = lost;
    this.part("connection").hidden = !lost;
    this.#page.classList.toggle("disconnected", lost);
    if (lost) this.#queue.length = 0;
  }

  /** @param {Input} input */
  enqueue(input) {
    if (!this.ready || this.disconnected || (input.action !== RESET && !this.available.has(input.action))) return;
    if (this.#queue.length < MAX_QUEUED) this.#queue.push(input);
    this.#skip?.();
    void this.#process();
  }

  /** Enqueues a reset. */
  sendReset() {
    this.enqueue({ action: RESET });
    this.board.focus({ preventScroll: true });
  }

  /**
   * Shows a response, frame by frame.
   * @param {Shown} answer @param {boolean} animate whether to show animations
   */
  async show(answer, animate) {
    const before = this.completed;
    const reel = new Reel(bytesOf(answer.packed));
    const finished = answer.levels_completed > before && answer.state !== "WIN" && reel.length > 1;
    // The last frame is the first of the new level; the frames before it complete the old one.
    const stay = finished ? reel.length - 2 : reel.length - 1;
    this.state = answer.state;
    this.available = new Set(answer.available_actions);
    this.completed = answer.levels_completed;
    this.#hooks.shown();
    if (animate && !reducedMotion.matches) {
      for (let frame = 0; frame < stay && this.#queue.length === 0; frame++) {
        this.board.show(reel.frame(frame));
        await this.#pause(this.#frameMs);
      }
    }
    if (finished && animate) {
      this.board.show(reel.frame(stay));
      this.#page.classList.add("completed");
      this.announce(this.#hooks.completed(answer, before));
      await this.#pause(COMPLETED_MS);
      this.#page.classList.remove("completed");
    }
    this.board.show(reel.frame(reel.length - 1), { ring: this.#cursor.shown ? this.#cursor : null });
    if (answer.state === "GAME_OVER") this.announce("Game over. Press R to retry the level.");
  }

  /** Sends the queued inputs, one after the other. */
  async #process() {
    if (this.#busy || !this.ready) return;
    this.#busy = true;
    for (let input = this.#queue.shift(); input; input = this.#queue.shift()) {
      if (input.action !== RESET && this.state !== "NOT_FINISHED") continue;
      if (!(await this.#hooks.execute(input))) this.#queue.length = 0;
    }
    this.#busy = false;
  }

  /** @param {number} ms @returns {Promise<void>} resolves when the time is over or skipped */
  #pause(ms) {
    return new Promise((done) => {
      const end = () => {
        clearTimeout(timer);
        this.#skip = null;
        done();
      };
      const timer = setTimeout(end, ms);
      this.#skip = end;
    });
  }

  /** @param {number} dx @param {number} dy */
  #moveCursor(dx, dy) {
    const within = (/** @type {number} */ at) => Math.max(0, Math.min(SIZE - 1, at));
    const cursor = this.#cursor;
    [cursor.x, cursor.y, cursor.shown] = [within(cursor.x + dx), within(cursor.y + dy), true];
    this.board.ring(cursor);
    const color = COLOR_NAMES[this.board.cells[(cursor.y * SIZE + cursor.x) % CELLS] & 15];
    this.announce(`Column ${cursor.x}, row ${cursor.y}, ${color}`);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const { available } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) {
      if ((event.ctrlKey || event.metaKey) && event.code === "KeyZ" && available.has(UNDO)) {
        event.preventDefault();
        this.enqueue({ action: UNDO });
      }
      return;
    }
    const on = /** @type {Element} */ (event.target);
    const pressing = on.closest("button, a, dialog");
    if (this.#page.querySelector("dialog[open]") || (pressing && ["Space", "Enter"].includes(event.code))) return;
    const move = MOVES[event.code];
    const points = available.has(CLICK) && (event.shiftKey || ![1, 2, 3, 4].some((action) => available.has(action)));
    if (move && points) {
      const step = event.repeat ? 2 : 1;
      this.#moveCursor(move[0] * step, move[1] * step);
    } else if (event.code === "Enter" && available.has(CLICK)) {
      this.#moveCursor(0, 0);
      this.enqueue({ action: CLICK, x: this.#cursor.x, y: this.#cursor.y });
    } else if (event.code === "KeyR") {
      this.#hooks.reset();
    } else if (event.code in KEYS && !event.shiftKey) {
      // A held key repeats, but only after the previous response is shown.
      if (!event.repeat || !this.#busy) this.enqueue({ action: KEYS[event.code] });
    } else if (event.code === "Escape") {
      this.#skip?.();
      return;
    } else {
      return;
    }
    event.preventDefault();
  }

  /** @param {MouseEvent} event */
  #onButton(event) {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("button[data-action], button[data-do]"));
    if (!button) return;
    // A button clicked with a pointer gives up the focus, so that the space bar goes to the game.
    if (event.detail > 0) button.blur();
    if (button.dataset.action) this.enqueue({ action: Number(button.dataset.action) });
    else if (button.dataset.do === "reset") this.#hooks.reset();
    else if (button.dataset.do === "signs") {
      setSymbols(!symbolsAreOn());
      button.setAttribute("aria-pressed", String(symbolsAreOn()));
    }
  }
}
