// @ts-check
/**
 * `<rhae-player>` plays a film: every frame of a recorded play or of a play in progress.
 *
 * The data is the JSON object that `player_data` of rhae-report writes (see `reel.js` for the packed form). It comes from a
 * `<script type="application/json">` child or from the property `film`. Alternatively `open` takes a reel, which `extend` extends.
 * Nothing is decoded before the element is visible. Untrusted text is only set as `textContent`.
 *
 * Keys: space plays and pauses, ← and → step by actions, `,` and `.` by frames, Home and End jump, D shows changes, O objects.
 * Events: `rhae-moment` with `detail.moment` whenever another action is shown.
 */

import { CLICK, RESET, Reel, VERSION, bytesOf } from "./reel.js";
import { RhaeBoard, symbolsAreOn, setSymbols, sheet } from "./board.js";
import { ICONS, PLAYER_STYLE, PLAYER_TEMPLATE } from "./template.js";
import { Strip } from "./strip.js";

const SETTLED_MS = 300;
const UNCHANGED_MS = 120;
/** A live viewer is at most this many actions behind the play. */
const MAX_BEHIND = 12;
/** Longer reasoning is collapsed to this many characters. */
const COLLAPSED_CHARS = 900;
/** Reasoning is requested after the same action was shown for this long. */
const REASONING_DELAY_MS = 90;
const ACTIONS = ["RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"];
const NO_REASONING = "No reasoning for this action.";
const STATES = ["in progress", "won", "game over"];

/**
 * @typedef {{version: number, title: string, subtitle: string, frames_per_second: number, win_levels: number,
 *   packed: string, reasoning: [number, string][], times?: number[], perception?: Perception[], work?: Work[]}} FilmData
 * What the agent asked its model before a moment: moment, requests, input tokens, output tokens, cost in US dollars, cost up to then, tokens
 * in context.
 * @typedef {[number, number, number, number, number | null, number | null, number | null]} Work
 * The perception of a moment: boxes (see `Overlay` of the board) and a description.
 * @typedef {{boxes: number[][], text: string}} Perception
 * The metadata of a film. `reasoning` returns the reasoning of an action, if there is any. `times` returns the time of each action in
 * milliseconds, if it was recorded.
 * @typedef {{title: string, subtitle: string, framesPerSecond: number, winLevels: number,
 *   reasoning?: ((moment: number) => Promise<string | undefined>) | null, times?: (() => Promise<number[]>) | null,
 *   perception?: Perception[] | (() => Promise<Perception[]>) | null, work?: Work[] | (() => Promise<Work[]>) | null}} FilmMetadata
 * @typedef {import("./reel.js").Moment} Moment
 */

/** @type {CSSStyleSheet | undefined} */
let playerSheet;
/** Colours change with the theme of the system, or when a page dispatches `rhae-theme`. */
const systemTheme = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

const PlayerBase = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class RhaePlayer extends PlayerBase {
  /** @type {FilmData | null} */
  #data = null;
  /** @type {Reel | null} */
  #reel = null;
  /** @type {FilmMetadata["reasoning"]} */
  #reasoning = null;
  #reasoningText = "";
  #expanded = false;
  #moment = 0;
  #frame = 0;
  #playing = false;
  /** Whether the player follows a play in progress; `null` for a finished play. @type {boolean | null} */
  #live = null;
  #changes = false;
  /** The perception of each moment, if the film contains it. @type {Perception[] | null} */
  #perception = null;
  /** Loads the perception when it is first shown. @type {(() => Promise<Perception[]>) | null} */
  #loadPerception = null;
  #objects = false;
  /** @type {Work[]} */
  #work = [];
  /** @type {(() => Promise<Work[]>) | null} */
  #loadWork = null;
  #before = new Uint8Array(64 * 64);
  #speed = 1;
  /** @type {FilmMetadata["times"]} */
  #loadTimes = null;
  /** The recorded time of each action, while the film plays at the recorded pace. @type {number[] | null} */
  #times = null;
  #frameMs = 50;
  #winLevels = 0;
  #dueMs = 0;
  #tickedAt = 0;
  #reasoningTimer = 0;
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
    this.#select.addEventListener("change", () => void this.#setSpeed(this.#select.value));
  }

  connectedCallback() {
    this.#seen.observe(this);
    this.#resized.observe(this.#stripCanvas);
    systemTheme?.addEventListener("change", this.#onTheme);
    globalThis.addEventListener("rhae-theme", this.#onTheme);
    this.#press("signs", symbolsAreOn());
  }

  disconnectedCallback() {
    this.pause();
    this.#seen.disconnect();
    this.#resized.disconnect();
    systemTheme?.removeEventListener("change", this.#onTheme);
    globalThis.removeEventListener("rhae-theme", this.#onTheme);
  }

  /** The data of the film. */
  get film() {
    return this.#data;
  }

  set film(data) {
    this.pause();
    this.#data = data;
    this.#reel = null;
    if (this.#visible) this.#load();
  }

  /** The commands with their counts; empty before the film is loaded. */
  get moments() {
    return this.#reel?.moments ?? [];
  }

  /** The index of the current moment. */
  get moment() {
    return this.#moment;
  }

  /** The frames of the film. */
  get reel() {
    return this.#reel;
  }

  /** The cells that are shown. */
  get cells() {
    return this.#board.cells;
  }

  get playing() {
    return this.#playing;
  }

  /**
   * Shows a reel. `live` says that the play is in progress and that the reel will be extended.
   * @param {Reel} reel @param {FilmMetadata} metadata @param {boolean} [live]
   */
  open(reel, metadata, live = false) {
    this.pause();
    this.#reel = reel;
    this.#live = live ? true : null;
    this.#reasoning = metadata.reasoning ?? null;
    this.#loadTimes = metadata.times ?? null;
    /** @type {HTMLOptionElement} */ (this.#part("option[value=recorded]")).hidden = !this.#loadTimes;
    if (this.#times) this.#select.value = "1";
    this.#times = null;
    const { perception } = metadata;
    this.#perception = typeof perception === "function" ? null : perception ?? null;
    this.#loadPerception = typeof perception === "function" ? perception : null;
    this.#part("button[data-do=objects]").hidden = !perception;
    const { work } = metadata;
    this.#loadWork = typeof work === "function" ? work : null;
    this.#setWork(typeof work === "function" ? [] : work ?? []);
    this.#frameMs = 1000 / Math.max(1, Math.min(60, metadata.framesPerSecond));
    this.#winLevels = metadata.winLevels;
    this.#part(".player").setAttribute("aria-label", `${metadata.title}, ${metadata.subtitle}`);
    this.#part("details").hidden = !this.#reasoning;
    this.#part(".error").hidden = true;
    this.#part(".player").hidden = false;
    this.#layOut();
    this.seek(live ? this.moments.length - 1 : 0);
    if (live) this.#follow(true);
    if (typeof work === "function") void this.#requestWork(work);
  }

  /** Shows an error instead of the film. @param {string} reason */
  fail(reason) {
    this.pause();
    this.#reel = null;
    const error = this.#part(".error");
    error.textContent = reason;
    error.hidden = false;
    this.#part(".player").hidden = true;
  }

  /**
   * Appends new moments to the reel that is shown; see `Reel.append`.
   * @param {Uint8Array} bytes @param {boolean} keyframe
   */
  extend(bytes, keyframe) {
    if (!this.#reel) return;
    this.#reel.append(bytes, keyframe);
    this.#layOut();
    if (this.#live) {
      const last = this.moments.length - 1;
      if (last - this.#moment > MAX_BEHIND) this.#go(last - 1);
      this.#run();
    }
    this.#show();
  }

  /** Ends live mode, because the play has ended. */
  end() {
    this.#live = null;
    this.#part("button[data-do=live]").hidden = true;
  }

  /** Plays from the current frame, or from the start if the last frame is shown. */
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
   * Steps by a number of frames, backwards if it is negative.
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
      const reasoning = new Map(film.reasoning);
      const { times } = film;
      this.open(new Reel(bytesOf(film.packed)), {
        title: film.title,
        subtitle: film.subtitle,
        framesPerSecond: film.frames_per_second,
        winLevels: film.win_levels,
        reasoning: reasoning.size > 0 ? async (moment) => reasoning.get(moment) : null,
        times: times ? async () => times : null,
        perception: film.perception ?? null,
        work: film.work ?? null,
      });
    } catch (reason) {
      this.fail(`This film cannot be shown: ${reason instanceof Error ? reason.message : reason}`);
    }
  }

  /** Draws the parts that do not change while the film plays: marks and level buttons. */
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
      jump.title = jump.disabled ? "Not reached" : `To level ${Number(jump.dataset.level) + 1}`;
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

  /** Sets the speed: a factor, or the recorded pace. @param {string} value */
  async #setSpeed(value) {
    const recorded = value === "recorded";
    this.#speed = recorded ? 1 : Number(value);
    const times = recorded ? await this.#loadTimes?.().catch(() => null) : null;
    if (this.#select.value !== value) return;
    this.#times = times ?? null;
    if (recorded && !times) this.#select.value = "1";
    if (this.#playing) this.#dueMs = this.#delay();
  }

  /**
   * Returns the duration of the current frame at the recorded pace. An animation plays at its own speed, or faster if the next action came
   * earlier, and the settled frame takes the rest.
   * @returns {number | null} `null` if the film does not play at the recorded pace
   */
  #recordedDelay() {
    const [from, to] = [this.#times?.[this.#moment], this.#times?.[this.#moment + 1]];
    if (from === undefined || to === undefined) return null;
    const [all, count] = [Math.max(0, to - from), Math.max(1, this.moments[this.#moment].count)];
    const frameMs = Math.min(this.#frameMs, all / count);
    return this.#frame < this.#settled(this.#moment) ? frameMs : all - frameMs * (count - 1);
  }

  /** Returns the duration of the current frame at normal speed. */
  #delay() {
    const recorded = this.#recordedDelay();
    if (recorded !== null) return recorded;
    const moment = this.moments[this.#moment];
    if (this.#frame < this.#settled(this.#moment)) return this.#frameMs;
    const rest = Math.max(this.#frameMs, moment.changed ? SETTLED_MS : UNCHANGED_MS);
    // A live viewer must not fall behind a play that is faster than this.
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
    const name = moment.action === RESET && moment.fullReset ? "RESET of the game" : ACTIONS[moment.action];
    this.#write("action", moment.action === CLICK ? `${name} at ${moment.x}, ${moment.y}` : name);
    const unchanged = moment.counted && !moment.changed;
    this.#write("effect", unchanged ? "○ changed nothing" : moment.counted ? "● changed the state" : "not counted", !moment.counted || unchanged);
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
    this.#showWork();
    this.#requestReasoning();
    this.#draw();
    this.#strip.show(this.moments, this.#moment);
    this.dispatchEvent(new CustomEvent("rhae-moment", { detail: { moment: this.#moment } }));
  }

  /** @param {Work[]} work */
  #setWork(work) {
    this.#work = work;
    for (const row of this.#root.querySelectorAll(".work")) /** @type {HTMLElement} */ (row).hidden = work.length === 0;
  }

  /** Loads what the model of the agent did, unless another replay is opened first. @param {() => Promise<Work[]>} load */
  async #requestWork(load) {
    const work = await load().catch(() => []);
    if (this.#loadWork !== load) return;
    this.#setWork(work);
    this.#showWork();
  }

  /** Shows what the agent asked its model before the current action, and what all requests up to then cost. */
  #showWork() {
    if (this.#work.length === 0) return;
    let [low, high] = [0, this.#work.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#work[middle][0] <= this.#moment) low = middle + 1;
      else high = middle;
    }
    const last = this.#work[low - 1];
    const own = last?.[0] === this.#moment ? last : undefined;
    const count = (/** @type {number} */ number, /** @type {string} */ noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
    const usd = (/** @type {number | null | undefined} */ cost) => (cost === null || cost === undefined ? "unknown" : `${cost.toFixed(4)} USD`);
    this.#write("requests", own ? `${count(own[1], "request")}, ${count(own[2], "token")} in, ${own[3].toLocaleString("en")} out` : "none for this action", !own);
    this.#write("cost", `${own ? usd(own[4]) : "none"}, ${last ? usd(last[5]) : "nothing"} so far`, !own);
    this.#write("context", last && last[6] !== null ? count(last[6], "token") : "–", !own);
  }

  /** Requests the reasoning of the current action, unless another action is shown soon. */
  #requestReasoning() {
    if (!this.#reasoning) return;
    clearTimeout(this.#reasoningTimer);
    const moment = this.#moment;
    this.#reasoningTimer = setTimeout(async () => {
      const reasoning = await this.#reasoning?.(moment).catch(() => "The reasoning could not be loaded.");
      if (moment === this.#moment) this.#showReasoning(reasoning);
    }, REASONING_DELAY_MS);
  }

  /** @param {string | undefined} reasoning */
  #showReasoning(reasoning) {
    const place = this.#part(".reasoning");
    const text = reasoning ?? NO_REASONING;
    if (text !== this.#reasoningText) this.#expanded = false;
    this.#reasoningText = text;
    const isLong = text.length > COLLAPSED_CHARS;
    place.textContent = isLong && !this.#expanded ? `${text.slice(0, COLLAPSED_CHARS)}…` : text;
    place.classList.toggle("mark", reasoning === undefined);
    const more = this.#part(".more");
    more.hidden = !isLong;
    more.textContent = this.#expanded ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`;
  }

  #draw() {
    if (!this.#reel) return;
    const moment = this.moments[this.#moment];
    if (this.#changes) this.#before.set(this.#reel.frame(this.#moment > 0 ? this.#settled(this.#moment - 1) : 0));
    const cells = this.#reel.frame(this.#frame);
    const ring = moment.action === CLICK ? { x: moment.x, y: moment.y } : null;
    const isSettled = this.#frame === this.#settled(this.#moment);
    const seen = this.#objects && isSettled ? this.#perception?.[this.#moment] : undefined;
    this.#board.show(cells, { ring, compareWith: this.#changes ? this.#before : null, boxes: seen?.boxes });
    const perceived = this.#part(".perceived");
    perceived.hidden = !this.#objects || !this.#perception;
    perceived.textContent = seen?.text ?? "";
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

  /** @param {string} command */
  #do(command) {
    if (command === "play") this.#playing ? this.pause() : this.play();
    if (command === "first") this.seek(0);
    if (command === "last" || command === "live") this.seek(this.moments.length - 1);
    if (command === "back") this.seek(this.#moment - 1);
    if (command === "next") this.seek(this.#moment + 1);
    if (command === "frame-back") this.seekFrame(-1);
    if (command === "frame-next") this.seekFrame(1);
    if (command === "unfold") {
      this.#expanded = !this.#expanded;
      this.#showReasoning(this.#reasoningText);
    }
    if (command === "signs") {
      setSymbols(!symbolsAreOn());
      this.#press("signs", symbolsAreOn());
    }
    if (command === "objects") this.#showObjects(!this.#objects);
    if (command === "changes") {
      this.#changes = !this.#changes;
      this.#press("changes", this.#changes);
      this.#draw();
    }
  }

  /** Shows or hides what perception sees. @param {boolean} on */
  #showObjects(on) {
    const load = this.#loadPerception;
    if (load && on) {
      const reel = this.#reel;
      this.#loadPerception = null;
      load().then(
        (perception) => {
          if (this.#reel !== reel) return;
          this.#perception = perception;
          this.#showObjects(true);
        },
        () => {
          this.#part("button[data-do=objects]").hidden = true;
        },
      );
    }
    if (!this.#perception) return;
    this.#objects = on;
    this.#press("objects", on);
    this.#draw();
  }

  /** @param {string} command @param {boolean} on */
  #press(command, on) {
    this.#part(`button[data-do=${command}]`).setAttribute("aria-pressed", String(on));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const on = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || on.closest("select, .reasoning")) return;
    if (event.key === " " && on.closest("button, summary")) return;
    const command = {
      " ": "play", ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", ",": "frame-back", ".": "frame-next", d: "changes", o: "objects",
    }[event.key];
    if (!command) return;
    event.preventDefault();
    this.#do(command);
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

  get #select() {
    return /** @type {HTMLSelectElement} */ (this.#part("select"));
  }

  get #stripCanvas() {
    return /** @type {HTMLCanvasElement} */ (this.#part(".strip"));
  }

  get #board() {
    return /** @type {RhaeBoard} */ (this.#part("rhae-board"));
  }
}

globalThis.customElements?.define("rhae-player", RhaePlayer);
