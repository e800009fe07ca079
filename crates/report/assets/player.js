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

const SETTLED_MS = 300;
const UNCHANGED_MS = 120;
/** One who watches is never further behind than this many actions. */
const MOST_BEHIND = 12;
/** Text beyond this many characters is folded. */
const FOLDED_AT = 900;
/** Reasoning is asked for when the same action was shown for so long. */
const ASK_MS = 90;
const ACTIONS = ["RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"];
/** The actions as signs in a field of 16 × 16: a turn, four arrows, a bar, a target, a way back. */
const ACTION_SIGNS = [
  "M12.5 8A4.5 4.5 0 1 1 8 3.5H11M9 1L11.5 3.5L9 6", "M8 13V3.5M4 7.5L8 3.5L12 7.5", "M8 3V12.5M4 8.5L8 12.5L12 8.5",
  "M13 8H3.5M7.5 4L3.5 8L7.5 12", "M3 8H12.5M8.5 4L12.5 8L8.5 12", "M3 6.5V10.5H13V6.5", "M8 8.5V7.5M3.5 8A4.5 4.5 0 1 0 12.5 8A4.5 4.5 0 1 0 3.5 8",
  "M13 12.5V9A3 3 0 0 0 10 6H3.5M6.5 3L3.5 6L6.5 9",
];
const NO_REASONING = "none for this action";
const STATES = ["going on", "won", "game over"];
const STRIP_FIELD = 26;

/**
 * @typedef {{version: number, title: string, subtitle: string, frames_per_second: number, win_levels: number,
 *   packed: string, reasoning: [number, string][]}} FilmData
 * What is known of a film besides its frames; `reasoning` gives what was said about an action, if anything was.
 * @typedef {{title: string, subtitle: string, framesPerSecond: number, winLevels: number,
 *   reasoning?: ((moment: number) => Promise<string | undefined>) | null}} About
 * @typedef {import("./reel.js").Moment} Moment
 */

const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M12 3v10L4 8z",
  play: "M4 2.5v11l9.5-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3v10l8-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};

/** @param {keyof typeof ICONS} name @param {string} label */
const button = (name, label) => `<button type="button" data-do="${name}" aria-label="${label}" title="${label}">
  <svg viewBox="0 0 16 16" aria-hidden="true"><path d="${ICONS[name]}"/></svg></button>`;

const PLAYER_STYLE = `
:host { display: block; container-type: inline-size; font: inherit; font-variant-numeric: tabular-nums;
  --quiet: var(--rhae-quiet, color-mix(in srgb, currentColor 68%, transparent)); --line: color-mix(in srgb, currentColor 16%, transparent);
  --accent: var(--rhae-accent, #1668c4); }
.player { display: grid; gap: 16px 32px; grid-template-columns: minmax(0, 1fr); outline: none; }
.player:focus-visible { outline: 2px solid var(--accent); outline-offset: 6px; border-radius: 2px; }
.film { width: 100%; max-width: var(--film, 512px); margin-inline: auto; }
rhae-board { aspect-ratio: 1; width: 100%; }
.strip { display: block; width: 100%; height: 34px; margin-top: 12px; cursor: pointer; touch-action: none; }
.bar { position: relative; margin-top: 6px; }
.marks { display: block; width: calc(100% - 14px); height: 12px; margin: 0 7px -6px; overflow: visible; }
.marks path { fill: none; stroke: currentColor; vector-effect: non-scaling-stroke; }
.marks .unchanged { stroke: var(--quiet); stroke-width: 1px; }
.marks .levels { stroke-width: 2px; }
input { display: block; width: 100%; height: 24px; margin: 0; appearance: none; background: none; color: inherit; cursor: pointer; }
input::-webkit-slider-runnable-track { height: 4px; border-radius: 2px; background: var(--line); }
input::-moz-range-track { height: 4px; border-radius: 2px; background: var(--line); }
input::-webkit-slider-thumb { appearance: none; width: 14px; height: 14px; margin-top: -5px; border-radius: 50%; background: currentColor; }
input::-moz-range-thumb { width: 14px; height: 14px; border: 0; border-radius: 50%; background: currentColor; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: 2px; margin-top: 4px; }
button, select { font: inherit; font-size: 13px; color: inherit; background: none; border: 1px solid transparent; border-radius: 6px;
  min-width: 36px; height: 36px; padding: 0 8px; cursor: pointer; display: inline-grid; place-items: center; }
button:hover, select:hover { background: var(--line); }
button:focus-visible, select:focus-visible, input:focus-visible, summary:focus-visible, .reasoning:focus-visible {
  outline: 2px solid var(--accent); outline-offset: 1px; }
button[data-do=play] { border-color: var(--line); min-width: 44px; }
button[aria-pressed=true] { border-color: currentColor; }
button svg { width: 16px; height: 16px; fill: currentColor; }

.more-controls { margin-left: auto; display: flex; gap: 2px; } option { color: CanvasText; background: Canvas; }
div.levels { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; min-height: 30px; }
.levels button { min-width: 30px; height: 30px; border-color: var(--line); font-variant-numeric: tabular-nums; }
.levels button[aria-current=true] { border-color: currentColor; font-weight: 600; }
.levels button:disabled { opacity: .4; cursor: default; background: none; }
.side { min-width: 0; display: flex; flex-direction: column; gap: 14px; }
dl { display: grid; grid-template-columns: 7em minmax(0, 1fr); gap: 5px 12px; margin: 0; }
dt, .legend, .label { color: var(--quiet); font-size: 13px; }
dt { padding-top: 1px; } dd { margin: 0; min-height: 1.4em; } .mark { color: var(--quiet); }
details { border-top: 1px solid var(--line); padding-top: 10px; }
summary { cursor: pointer; color: var(--quiet); font-size: 13px; }
.reasoning { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; min-height: 6em; max-height: 32em; overflow: auto;
  margin: 8px 0 0; font-size: 14px; line-height: 1.5; }
.more { border-color: var(--line); height: 30px; margin-top: 8px; }
.error { padding: 12px; border: 1px solid var(--line); }
.legend { margin: 0; display: flex; flex-wrap: wrap; gap: 4px 14px; } .legend svg { width: 8px; height: 12px; vertical-align: -2px; }
.legend path { stroke: currentColor; fill: none; }
[hidden] { display: none !important; }
@container (min-width: 700px) { .player { grid-template-columns: minmax(0, var(--film, 512px)) minmax(220px, 1fr); } .film { margin: 0; } }
@media print { :host { display: none; } }
`;

const PLAYER_TEMPLATE = `<div class="player" tabindex="0" role="group">
  <div class="film">
    <rhae-board role="img"></rhae-board>
    <canvas class="strip" aria-hidden="true"></canvas>
    <div class="bar">
      <svg class="marks" preserveAspectRatio="none" aria-hidden="true">
        <path class="unchanged"/><path class="levels"/></svg>
      <input type="range" min="0" value="0" aria-label="Action">
    </div>
    <div class="controls">${button("first", "To the start")}${button("back", "One action back")}${button("play", "Play")}
      ${button("next", "One action on")}${button("last", "To the end")}
      <span class="more-controls"><button type="button" data-do="live" hidden>Live</button>
      <select aria-label="Speed" title="Speed">${[0.5, 1, 2, 4, 8, 16].map((speed) => `<option value="${speed}"${speed === 1 ? " selected" : ""}>${speed}×</option>`).join("")}</select>
      <button type="button" data-do="changes" aria-pressed="false" title="What changed since the action before (D)">Changes</button>
      <button type="button" data-do="signs" aria-pressed="false" title="A sign for each colour, for those who cannot tell them apart">Signs</button></span>
    </div>
  </div>
  <div class="side">
    <div class="levels"><span class="label">Level&nbsp;</span></div>
    <dl><dt>Action</dt><dd data-show="action"></dd><dt>Effect</dt><dd data-show="effect"></dd><dt>Frame</dt><dd data-show="frame"></dd><dt>Actions</dt><dd data-show="count"></dd>
      <dt>On this level</dt><dd data-show="level"></dd><dt>State</dt><dd data-show="state"></dd></dl>
    <p class="legend"><span><svg viewBox="0 0 8 12"><path stroke-width="2" d="M4 0v12"/></svg> level completed</span>
      <span><svg viewBox="0 0 8 12"><path d="M4 6v6"/></svg> changed nothing</span></p>
    <details hidden open><summary>Reasoning</summary><p class="reasoning" tabindex="0" role="region" aria-label="Reasoning"></p>
      <button type="button" class="more" data-do="unfold" hidden></button></details>
  </div>
</div>
<p class="error" role="alert" hidden></p>`;

/** @type {CSSStyleSheet | undefined} */
let playerSheet;
/** @type {Path2D[]} */
const actionPaths = [];

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
  #resized = new ResizeObserver(() => this.#drawStrip());

  constructor() {
    super();
    this.#root.adoptedStyleSheets = [(playerSheet ??= sheet(PLAYER_STYLE))];
    this.#root.innerHTML = PLAYER_TEMPLATE;
    this.#root.addEventListener("click", (event) => this.#onClick(event));
    this.#root.addEventListener("keydown", (event) => this.#onKey(/** @type {KeyboardEvent} */ (event)));
    this.#part("input").addEventListener("input", () => this.seek(Number(this.#input.value)));
    this.#strip.addEventListener("pointerdown", (event) => this.#onStrip(event));
    this.#part("select").addEventListener("change", (event) => {
      this.#speed = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    });
  }

  connectedCallback() {
    this.#seen.observe(this);
    this.#resized.observe(this.#strip);
    this.#press("signs", marksAreOn());
  }

  disconnectedCallback() {
    this.pause();
    this.#seen.disconnect();
    this.#resized.disconnect();
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
    this.#drawStrip();
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

  /** The actions around the one that is shown, as signs. */
  #drawStrip() {
    const strip = this.#strip;
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [strip.clientWidth, strip.clientHeight];
    const pen = strip.getContext("2d");
    if (!pen || !this.#reel || width === 0) return;
    if (strip.width !== Math.round(width * ratio)) [strip.width, strip.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    const style = getComputedStyle(this);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const left = this.#stripLeft();
    const first = Math.max(0, Math.floor(left / STRIP_FIELD));
    for (let at = first; at < this.moments.length && at * STRIP_FIELD - left < width; at++) {
      const [moment, x] = [this.moments[at], at * STRIP_FIELD - left];
      pen.strokeStyle = pen.fillStyle = style.color;
      pen.lineWidth = 1.5;
      if (at === this.#moment) {
        pen.globalAlpha = 0.14;
        pen.beginPath();
        pen.roundRect(x + 1, 5, STRIP_FIELD - 2, 24, 5);
        pen.fill();
      }
      pen.globalAlpha = moment.counted && !moment.changed ? 0.4 : 1;
      pen.save();
      pen.translate(x + STRIP_FIELD / 2 - 8, 9);
      pen.stroke((actionPaths[moment.action] ??= new Path2D(ACTION_SIGNS[moment.action])));
      pen.restore();
      pen.globalAlpha = 1;
      if (moment.levels > moment.level) {
        pen.fillRect(x + STRIP_FIELD - 1, 1, 2, 32);
        pen.font = "600 10px system-ui, sans-serif";
        pen.fillText(String(moment.levels), x + STRIP_FIELD + 3, 8);
      }
    }
  }

  /** Where the strip begins, so that the action that is shown is in its middle unless an end is nearer. */
  #stripLeft() {
    const width = this.#strip.clientWidth;
    const whole = this.moments.length * STRIP_FIELD;
    return Math.max(0, Math.min(whole - width, (this.#moment + 0.5) * STRIP_FIELD - width / 2));
  }

  /** @param {PointerEvent} event */
  #onStrip(event) {
    if (!this.#reel || event.button !== 0) return;
    const at = Math.floor((event.offsetX + this.#stripLeft()) / STRIP_FIELD);
    if (at >= 0 && at < this.moments.length) this.seek(at);
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

  get #strip() {
    return /** @type {HTMLCanvasElement} */ (this.#part(".strip"));
  }

  get #board() {
    return /** @type {RhaeBoard} */ (this.#part("rhae-board"));
  }
}

globalThis.customElements?.define("rhae-player", RhaePlayer);
