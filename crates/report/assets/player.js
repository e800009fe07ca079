// @ts-check
/**
 * `<rhae-player>` plays a film: every frame of a recorded play, or of one that is under way.
 *
 * Its data are the JSON object that `player_data` of rhae-report writes (see `reel.js` for the packed form), from a
 * `<script type="application/json">` child or set as the property `film`; or a reel, by `open`, to which `extend` adds. Nothing is
 * decoded before the element is visible. All text from outside goes through `textContent`.
 *
 * Keys: space plays and pauses, ← and → step by actions, `,` and `.` by frames, Home and End jump, D shows what changed.
 * Events: `rhae-moment`, with `detail.moment`, whenever another action is shown.
 */

import { CLICK, RESET, Reel, VERSION, bytesOf } from "./reel.js";
import { RhaeBoard, marksAreOn, setMarks, sheet } from "./board.js";
import { ICONS, PLAYER_STYLE, PLAYER_TEMPLATE } from "./look.js";
import { Strip } from "./strip.js";

const SETTLED_MS = 300;
const UNCHANGED_MS = 120;
/** One who watches is never further behind than this many actions. */
const MOST_BEHIND = 12;
/** Text beyond this many characters is folded. */
const FOLDED_AT = 900;
/** Reasoning is asked for when the same action was shown for so long. */
const ASK_MS = 90;
const ACTIONS = ["RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"];
const NO_REASONING = "none for this action";
const STATES = ["going on", "won", "game over"];

/**
 * @typedef {{version: number, title: string, subtitle: string, frames_per_second: number, win_levels: number,
 *   packed: string, reasoning: [number, string][]}} FilmData
 * What is known of a film besides its frames; `reasoning` gives what was said about an action, if anything was.
 * @typedef {{title: string, subtitle: string, framesPerSecond: number, winLevels: number,
 *   reasoning?: ((moment: number) => Promise<string | undefined>) | null}} About
 * @typedef {import("./reel.js").Moment} Moment
 */

/** @type {CSSStyleSheet | undefined} */
let playerSheet;
/** Colours change with the system's theme, or with what a page tells by `rhae-theme`. */
const systemTheme = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

const PlayerBase = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class RhaePlayer extends PlayerBase {
  /** @type {FilmData | null} */
  #data = null;
  /** @type {Reel | null} */
  #reel = null;
  /** @type {About["reasoning"]} */
  #reasoning = null;
  #said = "";
  #unfolded = false;
  #moment = 0;
  #frame = 0;
  #playing = false;
  /** Whether it stays with a play that is under way; `null` if there is none. @type {boolean | null} */
  #live = null;
  #changes = false;
  #before = new Uint8Array(64 * 64);
  #speed = 1;
  #frameMs = 50;
  #winLevels = 0;
  #dueMs = 0;
  #tickedAt = 0;
  #asked = 0;
  #visible = false;
  #root = this.attachShadow({ mode: "open" });
  #seen = new IntersectionObserver((entries) => this.#onSeen(entries[entries.length - 1].isIntersecting));
  /** @type {Strip} */
  #strip;
  #resized = new ResizeObserver(() => this.#strip.draw());
  #onTheme = () => this.#strip.draw();

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [(playerSheet ??= sheet(PLAYER_STYLE))];
    this.#root.innerHTML = PLAYER_TEMPLATE;
    this.#root.addEventListener("click", (event) => this.#onClick(event));
    this.#root.addEventListener("keydown", (event) => this.#onKey(/** @type {KeyboardEvent} */ (event)));
    this.#part("input").addEventListener("input", () => this.seek(Number(this.#input.value)));
    this.#strip = new Strip(this.#stripCanvas);
    this.#stripCanvas.addEventListener("pointerdown", (event) => this.#onStrip(event));
    this.#part("select").addEventListener("change", (event) => {
      this.#speed = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    });
  }

  connectedCallback() {
    this.#seen.observe(this);
    this.#resized.observe(this.#stripCanvas);
    systemTheme?.addEventListener("change", this.#onTheme);
    globalThis.addEventListener("rhae-theme", this.#onTheme);
    this.#press("signs", marksAreOn());
  }

  disconnectedCallback() {
    this.pause();
    this.#seen.disconnect();
    this.#resized.disconnect();
    systemTheme?.removeEventListener("change", this.#onTheme);
    globalThis.removeEventListener("rhae-theme", this.#onTheme);
  }

  /** The film as an object. */
  get film() {
    return this.#data;
  }

  set film(data) {
    this.pause();
    this.#data = data;
    this.#reel = null;
    if (this.#visible) this.#load();
  }

  /** Every action with its counts; empty before the film is loaded. */
  get moments() {
    return this.#reel?.moments ?? [];
  }

  /** Which of them is shown. */
  get moment() {
    return this.#moment;
  }

  /** The frames. */
  get reel() {
    return this.#reel;
  }

  /** What is shown now, cell by cell. */
  get cells() {
    return this.#board.cells;
  }

  get playing() {
    return this.#playing;
  }

  /**
   * Shows a reel; `live` if the play is under way and will be extended.
   * @param {Reel} reel @param {About} about @param {boolean} [live]
   */
  open(reel, about, live = false) {
    this.pause();
    this.#reel = reel;
    this.#live = live ? true : null;
    this.#reasoning = about.reasoning ?? null;
    this.#frameMs = 1000 / Math.max(1, Math.min(60, about.framesPerSecond));
    this.#winLevels = about.winLevels;
    this.#part(".player").setAttribute("aria-label", `${about.title}, ${about.subtitle}`);
    this.#part("details").hidden = !this.#reasoning;
    this.#part(".error").hidden = true;
    this.#part(".player").hidden = false;
    this.#layOut();
    this.seek(live ? this.moments.length - 1 : 0);
    if (live) this.#follow(true);
  }

  /** Says why there is nothing to see. @param {string} reason */
  fail(reason) {
    this.pause();
    this.#reel = null;
    const error = this.#part(".error");
    error.textContent = reason;
    error.hidden = false;
    this.#part(".player").hidden = true;
  }

  /**
   * Adds what happened meanwhile to a reel that is shown.
   * @param {Uint8Array} bytes @param {boolean} whole
   */
  extend(bytes, whole) {
    if (!this.#reel) return;
    this.#reel.append(bytes, whole);
    this.#layOut();
    if (this.#live) {
      const last = this.moments.length - 1;
      if (last - this.#moment > MOST_BEHIND) this.#go(last - 1);
      this.#run();
    }
    this.#show();
  }

  /** Says that a play under way has ended. */
  end() {
    this.#live = null;
    this.#part("button[data-do=live]").hidden = true;
  }

  /** Plays on, from the start if the end is shown. */
  play() {
    if (!this.#reel || this.#playing) return;
    if (this.#frame >= this.#reel.length - 1) this.seek(0);
    this.#run();
  }

  pause() {
    this.#playing = false;
    this.#showPlaying();
  }

  /**
   * Shows the settled frame of an action.
   * @param {number} moment
   */
  seek(moment) {
    if (!this.#reel) return;
    this.#go(moment);
    if (this.#live !== null) this.#follow(this.#moment === this.moments.length - 1);
    this.#show();
  }

  /**
   * Steps by single frames.
   * @param {number} by
   */
  seekFrame(by) {
    if (!this.#reel) return;
    this.#frame = Math.max(0, Math.min(this.#frame + by, this.#reel.length - 1));
    while (this.#moment > 0 && this.#frame < this.moments[this.#moment].first) this.#moment--;
    while (this.#moment + 1 < this.moments.length && this.#frame > this.#settled(this.#moment)) this.#moment++;
    this.#show();
  }

  /** @param {number} moment */
  #go(moment) {
    this.#moment = Math.max(0, Math.min(moment, this.moments.length - 1));
    this.#frame = this.#settled(this.#moment);
    this.#dueMs = this.#delay();
  }

  #run() {
    if (this.#playing) return;
    this.#playing = true;
    this.#dueMs = this.#live ? 0 : this.#delay();
    this.#tickedAt = performance.now();
    requestAnimationFrame((now) => this.#tick(now));
    this.#showPlaying();
  }

  /** @param {boolean} on */
  #follow(on) {
    this.#live = on;
    const live = this.#part("button[data-do=live]");
    live.hidden = false;
    live.setAttribute("aria-pressed", String(on));
  }

  /** @param {boolean} visible */
  #onSeen(visible) {
    this.#visible = visible;
    if (visible && !this.#reel) this.#load();
    if (!visible && this.#live === null) this.pause();
  }

  #load() {
    try {
      const text = this.querySelector('script[type="application/json"]')?.textContent;
      /** @type {FilmData | null} */
      const film = this.#data ?? (text ? JSON.parse(text) : null);
      if (!film) return;
      if (film.version !== VERSION) throw new Error(`the film has version ${film.version}, and this player reads version ${VERSION}`);
      const said = new Map(film.reasoning);
      this.open(new Reel(bytesOf(film.packed)), {
        title: film.title,
        subtitle: film.subtitle,
        framesPerSecond: film.frames_per_second,
        winLevels: film.win_levels,
        reasoning: said.size > 0 ? async (moment) => said.get(moment) : null,
      });
    } catch (reason) {
      this.fail(`This film cannot be shown: ${reason instanceof Error ? reason.message : reason}`);
    }
  }

  /** Draws what stays the same while the film plays: marks and level buttons. */
  #layOut() {
    const moments = this.moments;
    const end = Math.max(1, moments.length - 1);
    this.#input.max = String(moments.length - 1);
    this.#part(".marks").setAttribute("viewBox", `0 0 ${end} 12`);
    const unchanged = moments.map((moment, at) => (moment.counted && !moment.changed ? `M${at} 7v5` : ""));
    this.#part(".marks .unchanged").setAttribute("d", unchanged.join(""));
    const completed = moments.map((moment, at) => (moment.levels > moment.level ? `M${at} 0v12` : ""));
    this.#part(".marks path.levels").setAttribute("d", completed.join(""));
    const reached = new Set(moments.map((moment) => moment.levels));
    const levels = this.#part("div.levels");
    while (levels.querySelectorAll("button").length < this.#winLevels) {
      const jump = document.createElement("button");
      const level = levels.querySelectorAll("button").length;
      jump.type = "button";
      jump.textContent = String(level + 1);
      jump.dataset.level = String(level);
      levels.append(jump);
    }
    for (const jump of levels.querySelectorAll("button")) {
      jump.hidden = Number(jump.dataset.level) >= this.#winLevels;
      jump.disabled = !reached.has(Number(jump.dataset.level));
      jump.title = jump.disabled ? "never reached" : `To level ${Number(jump.dataset.level) + 1}`;
    }
  }

  /** @param {number} now */
  #tick(now) {
    if (!this.#playing || !this.#reel) return;
    this.#dueMs -= (now - this.#tickedAt) * this.#speed;
    this.#tickedAt = now;
    let by = 0;
    while (this.#dueMs <= 0 && this.#frame < this.#reel.length - 1 && by++ < 1000) {
      this.#frame++;
      while (this.#moment + 1 < this.moments.length && this.#frame > this.#settled(this.#moment)) this.#moment++;
      this.#dueMs += this.#delay();
    }
    if (by > 0) this.#show();
    if (this.#frame >= this.#reel.length - 1) this.pause();
    else requestAnimationFrame((next) => this.#tick(next));
  }

  /** How long the current frame stays at normal speed. */
  #delay() {
    const moment = this.moments[this.#moment];
    if (this.#frame < this.#settled(this.#moment)) return this.#frameMs;
    const rest = Math.max(this.#frameMs, moment.changed ? SETTLED_MS : UNCHANGED_MS);
    // One who watches is not to fall behind a play that is faster than this.
    return this.#live ? Math.min(rest, 600 / Math.max(1, this.moments.length - this.#moment)) : rest;
  }

  /** @param {number} moment */
  #settled(moment) {
    return this.#reel?.settled(moment) ?? 0;
  }

  #show() {
    const moment = this.moments[this.#moment];
    if (!moment) return;
    const total = this.moments[this.moments.length - 1].number;
    const what = moment.action === RESET && moment.fullReset ? "RESET, from the start" : ACTIONS[moment.action];
    this.#write("action", moment.action === CLICK ? `${what} at ${moment.x}, ${moment.y}` : what);
    const useless = moment.counted && !moment.changed;
    this.#write("effect", useless ? "○ changed nothing" : moment.counted ? "● changed the state" : "not counted", !moment.counted || useless);
    this.#write("frame", `${Math.max(1, this.#frame - moment.first + 1)} of ${Math.max(1, moment.count)}`);
    this.#write("count", `${moment.number} of ${total}`);
    this.#write("level", `${moment.inLevel}`);
    this.#write("state", STATES[moment.state] + (moment.levels > moment.level ? `, level ${moment.levels} completed` : ""));
    this.#input.value = String(this.#moment);
    this.#input.setAttribute("aria-valuetext", `Action ${moment.number} of ${total}, level ${Math.min(moment.levels + 1, this.#winLevels)}`);
    const current = String(Math.min(moment.levels, this.#winLevels - 1));
    for (const jump of this.#root.querySelectorAll(".levels button")) {
      jump.setAttribute("aria-current", String(/** @type {HTMLElement} */ (jump).dataset.level === current));
    }
    this.#board.setAttribute("aria-label", `Frame after action ${moment.number}`);
    this.#ask();
    this.#draw();
    this.#strip.show(this.moments, this.#moment);
    this.dispatchEvent(new CustomEvent("rhae-moment", { detail: { moment: this.#moment } }));
  }

  /** Asks for the reasoning of the action that is shown, if it stays. */
  #ask() {
    if (!this.#reasoning) return;
    clearTimeout(this.#asked);
    const moment = this.#moment;
    this.#asked = setTimeout(async () => {
      const said = await this.#reasoning?.(moment).catch(() => "It could not be loaded.");
      if (moment === this.#moment) this.#say(said);
    }, ASK_MS);
  }

  /** @param {string | undefined} said */
  #say(said) {
    const place = this.#part(".reasoning");
    const text = said ?? NO_REASONING;
    if (text !== this.#said) this.#unfolded = false;
    this.#said = text;
    const folds = text.length > FOLDED_AT;
    place.textContent = folds && !this.#unfolded ? `${text.slice(0, FOLDED_AT)}…` : text;
    place.classList.toggle("mark", said === undefined);
    const more = this.#part(".more");
    more.hidden = !folds;
    more.textContent = this.#unfolded ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`;
  }

  #draw() {
    if (!this.#reel) return;
    const moment = this.moments[this.#moment];
    if (this.#changes) this.#before.set(this.#reel.frame(this.#moment > 0 ? this.#settled(this.#moment - 1) : 0));
    const cells = this.#reel.frame(this.#frame);
    const ring = moment.action === CLICK ? { x: moment.x, y: moment.y } : null;
    this.#board.show(cells, { ring, against: this.#changes ? this.#before : null });
  }

  /** @param {PointerEvent} event */
  #onStrip(event) {
    if (!this.#reel || event.button !== 0) return;
    const at = this.#strip.at(event.offsetX);
    if (at >= 0) this.seek(at);
  }

  /** @param {Event} event */
  #onClick(event) {
    const pressed = /** @type {Element} */ (event.target).closest("button");
    if (!pressed) return;
    if (pressed.dataset.level) {
      this.seek(this.moments.findIndex((moment) => moment.levels === Number(pressed.dataset.level)));
    } else {
      this.#do(pressed.dataset.do ?? "");
    }
  }

  /** @param {string} what */
  #do(what) {
    if (what === "play") this.#playing ? this.pause() : this.play();
    if (what === "first") this.seek(0);
    if (what === "last" || what === "live") this.seek(this.moments.length - 1);
    if (what === "back") this.seek(this.#moment - 1);
    if (what === "next") this.seek(this.#moment + 1);
    if (what === "frame-back") this.seekFrame(-1);
    if (what === "frame-next") this.seekFrame(1);
    if (what === "unfold") {
      this.#unfolded = !this.#unfolded;
      this.#say(this.#said);
    }
    if (what === "signs") {
      setMarks(!marksAreOn());
      this.#press("signs", marksAreOn());
    }
    if (what === "changes") {
      this.#changes = !this.#changes;
      this.#press("changes", this.#changes);
      this.#draw();
    }
  }

  /** @param {string} what @param {boolean} on */
  #press(what, on) {
    this.#part(`button[data-do=${what}]`).setAttribute("aria-pressed", String(on));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const on = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || on.closest("select, .reasoning")) return;
    if (event.key === " " && on.closest("button, summary")) return;
    const what = {
      " ": "play", ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", ",": "frame-back", ".": "frame-next", d: "changes",
    }[event.key];
    if (!what) return;
    event.preventDefault();
    this.#do(what);
  }

  #showPlaying() {
    const play = this.#part("button[data-do=play]");
    const label = this.#playing ? "Pause" : "Play";
    play.setAttribute("aria-label", label);
    play.title = label;
    this.#part("button[data-do=play] path").setAttribute("d", this.#playing ? ICONS.pause : ICONS.play);
  }

  /** @param {string} name @param {string} text @param {boolean} [marked] */
  #write(name, text, marked = false) {
    const field = this.#part(`[data-show=${name}]`);
    if (field.textContent !== text) field.textContent = text;
    field.classList.toggle("mark", marked);
  }

  /** @param {string} selector */
  #part(selector) {
    return /** @type {HTMLElement} */ (this.#root.querySelector(selector));
  }

  get #input() {
    return /** @type {HTMLInputElement} */ (this.#part("input"));
  }

  get #stripCanvas() {
    return /** @type {HTMLCanvasElement} */ (this.#part(".strip"));
  }

  get #board() {
    return /** @type {RhaeBoard} */ (this.#part("rhae-board"));
  }
}

globalThis.customElements?.define("rhae-player", RhaePlayer);
