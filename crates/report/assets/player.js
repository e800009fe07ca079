// @ts-check
/**
 * `<rhae-player>` plays a film: every frame of a recorded play.
 *
 * Its data are the JSON object that `player_data` of rhae-report writes (see `packed.rs` for the packed form). They come from
 * a `<script type="application/json">` child, from the attribute `film`, or are set as the property `film`. Nothing is
 * decoded before the element is visible. All text from outside goes through `textContent`.
 *
 * Keys: space plays and pauses, ← and → step by actions, `,` and `.` by frames, Home and End jump.
 * Events: `rhae-moment`, with `detail.moment`, whenever another action is shown.
 */

const SIZE = 64;
const VERSION = 1;
const SNAPSHOT_EVERY = 64;
const SETTLED_MS = 300;
const UNCHANGED_MS = 120;
const RESET = 0;
const CLICK = 6;
const ACTIONS = ["RESET", "ACTION1", "ACTION2", "ACTION3", "ACTION4", "ACTION5", "ACTION6", "ACTION7"];
const NO_REASONING = "none for this action";
const STATES = ["going on", "won", "game over"];
const PALETTE = [
  "#FFFFFF", "#CCCCCC", "#999999", "#666666", "#333333", "#000000", "#E53AA3", "#FF7BCC",
  "#F93C31", "#1E93FF", "#88D8F1", "#FFDC00", "#FF851B", "#921231", "#4FCC30", "#A356D6",
];

/**
 * @typedef {{version: number, title: string, subtitle: string, frames_per_second: number, win_levels: number,
 *   packed: string, reasoning: [number, string][]}} FilmData
 *
 * One command and what it showed: `count` frames from `first` on, the settled one last.
 * `number` counts the actions so far, `inLevel` those of the level that the command was taken in.
 * @typedef {{action: number, x: number, y: number, state: number, levels: number, changed: boolean, counted: boolean,
 *   fullReset: boolean, first: number, count: number, number: number, level: number, inLevel: number}} Moment
 */

/** The frames of a film, unpacked as they are asked for, in any order. */
export class Reel {
  /** @type {Moment[]} */
  moments = [];
  /** @type {number[]} */
  #offsets = [];
  /** @type {Uint8Array[]} */
  #snapshots = [];
  #cells = new Uint8Array(SIZE * SIZE);
  #shown = -1;
  #bytes;

  /** @param {string} packed base64 */
  constructor(packed) {
    this.#bytes = Uint8Array.from(atob(packed), (digit) => digit.charCodeAt(0));
    const bytes = this.#bytes;
    let [at, number, inLevel, level] = [0, 0, 0, 0];
    while (at < bytes.length) {
      const head = bytes[at];
      const [action, state, levels, count] = [head & 7, (head >> 3) & 3, bytes[at + 1], bytes[at + 2] | (bytes[at + 3] << 8)];
      const [changed, counted, fullReset] = [5, 6, 7].map((bit) => ((head >> bit) & 1) === 1);
      at += 4;
      const [x, y] = action === CLICK ? [bytes[at], bytes[at + 1]] : [-1, -1];
      at += action === CLICK ? 2 : 0;
      const first = this.#offsets.length;
      for (let frame = 0; frame < count; frame++) {
        this.#offsets.push(at);
        at = this.#apply(at);
        if (this.#offsets.length % SNAPSHOT_EVERY === 1) this.#snapshots.push(this.#cells.slice());
      }
      number += counted ? 1 : 0;
      inLevel = fullReset ? 0 : inLevel + (counted ? 1 : 0);
      if (fullReset) level = levels;
      this.moments.push({ action, x, y, state, levels, changed, counted, fullReset, first, count, number, level, inLevel });
      if (levels !== level) [level, inLevel] = [levels, 0];
    }
    if (at !== bytes.length || this.#offsets.length === 0) throw new Error("the film is cut off");
    this.#shown = this.#offsets.length - 1;
  }

  /** How many frames there are. */
  get length() {
    return this.#offsets.length;
  }

  /**
   * The 4096 cells of a frame, row by row; valid until the next call.
   * @param {number} frame
   */
  frame(frame) {
    if (frame < this.#shown || frame >= this.#shown + SNAPSHOT_EVERY) {
      const snapshot = Math.floor(frame / SNAPSHOT_EVERY);
      this.#cells.set(this.#snapshots[snapshot]);
      this.#shown = snapshot * SNAPSHOT_EVERY;
    }
    while (this.#shown < frame) this.#apply(this.#offsets[++this.#shown]);
    return this.#cells;
  }

  /**
   * Changes the cells as the frame at this offset says, and gives the offset behind it.
   * @param {number} at
   */
  #apply(at) {
    const bytes = this.#bytes;
    for (let bands = bytes[at++]; bands > 0; bands--) {
      const [y, height, runs] = [bytes[at], bytes[at + 1], bytes[at + 2]];
      at += 3;
      for (let run = 0; run < runs; run++, at += 2) {
        const bits = bytes[at] | (bytes[at + 1] << 8);
        const [x, length, color] = [bits & 63, ((bits >> 6) & 63) + 1, bits >> 12];
        for (let row = y; row < y + height; row++) this.#cells.fill(color, row * SIZE + x, row * SIZE + x + length);
      }
    }
    return at;
  }
}

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

const TEMPLATE = `<style>
:host { display: block; container-type: inline-size; font: inherit; font-variant-numeric: tabular-nums;
  --quiet: color-mix(in srgb, currentColor 62%, transparent); --line: color-mix(in srgb, currentColor 16%, transparent);
  --accent: var(--rhae-accent, #1E93FF); }
.player { display: grid; gap: 12px 28px; grid-template-columns: minmax(0, 1fr); outline: none; }
.player:focus-visible { outline: 2px solid var(--accent); outline-offset: 6px; border-radius: 2px; }
.film { width: 100%; max-width: 512px; margin-inline: auto; }
.stage { aspect-ratio: 1; display: grid; place-items: center; }
canvas { display: block; image-rendering: pixelated; box-shadow: 0 0 0 1px var(--line); }
.bar { position: relative; margin-top: 14px; }
.marks { display: block; width: calc(100% - 14px); height: 14px; margin: 0 7px -6px; overflow: visible; }
.marks path { fill: none; stroke: currentColor; vector-effect: non-scaling-stroke; }
.marks .unchanged { stroke: var(--quiet); stroke-width: 1px; }
.marks .levels { stroke-width: 2px; }
input { display: block; width: 100%; height: 24px; margin: 0; appearance: none; background: none; color: inherit; cursor: pointer; }
input::-webkit-slider-runnable-track { height: 4px; border-radius: 2px; background: var(--line); }
input::-moz-range-track { height: 4px; border-radius: 2px; background: var(--line); }
input::-webkit-slider-thumb { appearance: none; width: 14px; height: 14px; margin-top: -5px; border-radius: 50%; background: currentColor; }
input::-moz-range-thumb { width: 14px; height: 14px; border: 0; border-radius: 50%; background: currentColor; }
.controls { display: flex; align-items: center; gap: 2px; margin-top: 4px; }
button, select { font: inherit; font-size: 13px; color: inherit; background: none; border: 1px solid transparent; border-radius: 6px;
  min-width: 36px; height: 36px; padding: 0 8px; cursor: pointer; display: inline-grid; place-items: center; }
button:hover, select:hover { background: var(--line); }
button:focus-visible, select:focus-visible, input:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
button[data-do=play] { border-color: var(--line); min-width: 44px; }
button svg { width: 16px; height: 16px; fill: currentColor; }
select { margin-left: auto; } option { color: CanvasText; background: Canvas; }
div.levels { display: flex; flex-wrap: wrap; gap: 4px; align-items: center; min-height: 30px; }
.levels button { min-width: 30px; height: 30px; border-color: var(--line); font-variant-numeric: tabular-nums; }
.levels button[aria-current=true] { border-color: currentColor; font-weight: 600; }
.levels button:disabled { opacity: .35; cursor: default; background: none; }
.side { min-width: 0; display: flex; flex-direction: column; gap: 14px; }
dl { display: grid; grid-template-columns: 5.5em minmax(0, 1fr); gap: 5px 12px; margin: 0; }
dt, .legend, .label { color: var(--quiet); font-size: 13px; }
dt { padding-top: 1px; } dd { margin: 0; min-height: 1.4em; } .mark { color: var(--quiet); }
details { border-top: 1px solid var(--line); padding-top: 10px; }
summary { cursor: pointer; color: var(--quiet); font-size: 13px; }
.reasoning { white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; height: 11em; overflow: auto; margin-top: 8px;
  font-size: 14px; line-height: 1.5; }
.error { padding: 12px; border: 1px solid var(--line); }
.legend { margin: 0; display: flex; gap: 14px; } .legend svg { width: 8px; height: 12px; vertical-align: -2px; }
.legend path { stroke: currentColor; fill: none; }
[hidden] { display: none !important; }
@container (min-width: 700px) { .player { grid-template-columns: minmax(0, 512px) minmax(0, 1fr); } .film { margin: 0; } .reasoning { height: 17em; } }
@media print { :host { display: none; } }
</style>
<div class="player" tabindex="0" role="group">
  <div class="film">
    <div class="stage"><canvas role="img"></canvas></div>
    <div class="bar">
      <svg class="marks" preserveAspectRatio="none" aria-hidden="true">
        <path class="unchanged"/><path class="levels"/></svg>
      <input type="range" min="0" value="0" aria-label="Action">
    </div>
    <div class="controls">${button("first", "To the start")}${button("back", "One action back")}${button("play", "Play")}
      ${button("next", "One action on")}${button("last", "To the end")}
      <select aria-label="Speed" title="Speed">${[0.5, 1, 2, 4, 8, 16].map((speed) => `<option value="${speed}"${speed === 1 ? " selected" : ""}>${speed}×</option>`).join("")}</select>
    </div>
  </div>
  <div class="side">
    <div class="levels"><span class="label">Level&nbsp;</span></div>
    <dl><dt>Action</dt><dd data-show="action"></dd><dt>Effect</dt><dd data-show="effect"></dd><dt>Frame</dt><dd data-show="frame"></dd><dt>Actions</dt><dd data-show="count"></dd>
      <dt>On this level</dt><dd data-show="level"></dd><dt>State</dt><dd data-show="state"></dd></dl>
    <p class="legend"><span><svg viewBox="0 0 8 12"><path stroke-width="2" d="M4 0v12"/></svg> level completed</span>
      <span><svg viewBox="0 0 8 12"><path d="M4 6v6"/></svg> changed nothing</span></p>
    <details hidden open><summary>Reasoning</summary><div class="reasoning" tabindex="0"></div></details>
  </div>
</div>
<p class="error" hidden></p>`;

/** The colours as bytes of an `ImageData`: red, green, blue, opaque. */
const COLORS = new Uint32Array(
  Uint8Array.from(PALETTE.flatMap((color) => [...[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)), 255])).buffer,
);

const Base = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class RhaePlayer extends Base {
  static observedAttributes = ["film"];

  /** @type {FilmData | string | null} */
  #data = null;
  /** @type {Reel | null} */
  #reel = null;
  /** @type {Map<number, string>} */
  #reasoning = new Map();
  #moment = 0;
  #frame = 0;
  #playing = false;
  #speed = 1;
  #frameMs = 50;
  #winLevels = 0;
  #dueMs = 0;
  #tickedAt = 0;
  #visible = false;
  #root = this.attachShadow({ mode: "open" });
  #picture = new OffscreenCanvas(SIZE, SIZE);
  #pixels = new ImageData(SIZE, SIZE);
  #seen = new IntersectionObserver((entries) => this.#onSeen(entries[entries.length - 1].isIntersecting));
  #resized = new ResizeObserver(() => this.#fit());

  constructor() {
    super();
    this.#root.innerHTML = TEMPLATE;
    this.#root.addEventListener("click", (event) => this.#onClick(event));
    this.#root.addEventListener("keydown", (event) => this.#onKey(/** @type {KeyboardEvent} */ (event)));
    this.#part("input").addEventListener("input", () => this.seek(Number(this.#input.value)));
    this.#part("select").addEventListener("change", (event) => {
      this.#speed = Number(/** @type {HTMLSelectElement} */ (event.target).value);
    });
  }

  connectedCallback() {
    this.#seen.observe(this);
    this.#resized.observe(this.#part(".stage"));
  }

  disconnectedCallback() {
    this.pause();
    this.#seen.disconnect();
    this.#resized.disconnect();
  }

  /** @param {string} _name @param {string | null} _before @param {string | null} value */
  attributeChangedCallback(_name, _before, value) {
    if (value !== null) this.film = value;
  }

  /** The film, as an object or as JSON. */
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

  get playing() {
    return this.#playing;
  }

  /** Plays on, from the start if the end is shown. */
  play() {
    if (!this.#reel || this.#playing) return;
    if (this.#frame >= this.#reel.length - 1) this.seek(0);
    this.#playing = true;
    this.#dueMs = this.#delay();
    this.#tickedAt = performance.now();
    requestAnimationFrame((now) => this.#tick(now));
    this.#showPlaying();
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
    this.#moment = Math.max(0, Math.min(moment, this.moments.length - 1));
    this.#frame = this.#settled(this.#moment);
    this.#dueMs = this.#delay();
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

  /** @param {boolean} visible */
  #onSeen(visible) {
    this.#visible = visible;
    if (visible && !this.#reel) this.#load();
    if (!visible) this.pause();
  }

  #load() {
    const error = this.#part(".error");
    error.hidden = true;
    try {
      const source = this.#data ?? this.querySelector('script[type="application/json"]')?.textContent;
      if (!source) return;
      /** @type {FilmData} */
      const film = typeof source === "string" ? JSON.parse(source) : source;
      if (film.version !== VERSION) throw new Error(`the film has version ${film.version}, and this player reads version ${VERSION}`);
      this.#reel = new Reel(film.packed);
      this.#reasoning = new Map(film.reasoning);
      this.#frameMs = 1000 / Math.max(1, Math.min(60, film.frames_per_second));
      this.#winLevels = film.win_levels;
      this.#part(".player").setAttribute("aria-label", `${film.title}, ${film.subtitle}`);
      this.#layOut();
      this.#fit();
      this.seek(0);
    } catch (reason) {
      this.#reel = null;
      error.textContent = `This film cannot be shown: ${reason instanceof Error ? reason.message : reason}`;
      error.hidden = false;
    }
    this.#part(".player").hidden = !this.#reel;
  }

  /** Draws what stays the same while the film plays: marks, level buttons, whether there is any reasoning. */
  #layOut() {
    const moments = this.moments;
    const end = Math.max(1, moments.length - 1);
    this.#input.max = String(moments.length - 1);
    this.#part(".marks").setAttribute("viewBox", `0 0 ${end} 14`);
    const unchanged = moments.map((moment, at) => (moment.counted && !moment.changed ? `M${at} 8v6` : ""));
    this.#part(".marks .unchanged").setAttribute("d", unchanged.join(""));
    const completed = moments.map((moment, at) => (moment.levels > moment.level ? `M${at} 0v14` : ""));
    this.#part(".marks path.levels").setAttribute("d", completed.join(""));
    this.#part("details").hidden = this.#reasoning.size === 0;
    const levels = this.#part("div.levels");
    levels.querySelectorAll("button").forEach((old) => old.remove());
    for (let level = 0; level < this.#winLevels; level++) {
      const jump = document.createElement("button");
      jump.type = "button";
      jump.textContent = String(level + 1);
      jump.dataset.level = String(level);
      jump.disabled = !moments.some((moment) => moment.levels === level);
      jump.title = jump.disabled ? "never reached" : `To level ${level + 1}`;
      levels.append(jump);
    }
  }

  /** Gives the canvas the largest size at which a cell is a whole number of the screen's pixels. */
  #fit() {
    const ratio = globalThis.devicePixelRatio || 1;
    const zoom = Math.max(1, Math.floor((this.#part(".stage").clientWidth * ratio) / SIZE));
    const canvas = this.#canvas;
    if (canvas.width === zoom * SIZE && canvas.style.width) return;
    canvas.width = canvas.height = zoom * SIZE;
    canvas.style.width = canvas.style.height = `${(zoom * SIZE) / ratio}px`;
    this.#draw();
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
    return Math.max(this.#frameMs, moment.changed ? SETTLED_MS : UNCHANGED_MS);
  }

  /** @param {number} moment */
  #settled(moment) {
    const { first, count } = this.moments[moment];
    return Math.max(0, first + count - 1);
  }

  #show() {
    const moment = this.moments[this.#moment];
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
    const current = String(Math.min(moment.levels, this.#winLevels - 1));
    for (const jump of this.#root.querySelectorAll(".levels button")) {
      jump.setAttribute("aria-current", String(/** @type {HTMLElement} */ (jump).dataset.level === current));
    }
    const reasoning = this.#part(".reasoning");
    const text = this.#reasoning.get(this.#moment);
    if (reasoning.textContent !== (text ?? NO_REASONING)) reasoning.textContent = text ?? NO_REASONING;
    reasoning.classList.toggle("mark", text === undefined);
    this.#canvas.setAttribute("aria-label", `Frame after action ${moment.number}`);
    this.#draw();
    this.dispatchEvent(new CustomEvent("rhae-moment", { detail: { moment: this.#moment } }));
  }

  #draw() {
    const screen = this.#canvas.getContext("2d");
    const picture = this.#picture.getContext("2d");
    if (!this.#reel || !screen || !picture) return;
    const cells = this.#reel.frame(this.#frame);
    const pixels = new Uint32Array(this.#pixels.data.buffer);
    for (let cell = 0; cell < cells.length; cell++) pixels[cell] = COLORS[cells[cell]];
    picture.putImageData(this.#pixels, 0, 0);
    screen.imageSmoothingEnabled = false;
    screen.drawImage(this.#picture, 0, 0, this.#canvas.width, this.#canvas.height);
    const moment = this.moments[this.#moment];
    if (moment.action === CLICK) this.#ring(screen, moment.x, moment.y);
  }

  /**
   * A ring around the clicked cell, light within dark, so that it stands out on every colour.
   * @param {CanvasRenderingContext2D} screen @param {number} x @param {number} y
   */
  #ring(screen, x, y) {
    const zoom = this.#canvas.width / SIZE;
    const radius = Math.max(1.6 * zoom, 8 * (globalThis.devicePixelRatio || 1));
    for (const [color, width] of /** @type {[string, number][]} */ ([["#000", 0.55], ["#FFF", 0.25]])) {
      screen.beginPath();
      screen.arc((x + 0.5) * zoom, (y + 0.5) * zoom, radius, 0, 2 * Math.PI);
      screen.strokeStyle = color;
      screen.lineWidth = width * radius;
      screen.stroke();
    }
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
    if (what === "last") this.seek(this.moments.length - 1);
    if (what === "back") this.seek(this.#moment - 1);
    if (what === "next") this.seek(this.#moment + 1);
    if (what === "frame-back") this.seekFrame(-1);
    if (what === "frame-next") this.seekFrame(1);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const on = /** @type {Element} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || on.closest("select, .reasoning")) return;
    if (event.key === " " && on.closest("button, summary")) return;
    const what = {
      " ": "play", ArrowLeft: "back", ArrowRight: "next", Home: "first", End: "last", ",": "frame-back", ".": "frame-next",
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

  get #canvas() {
    return /** @type {HTMLCanvasElement} */ (this.#part("canvas"));
  }
}

globalThis.customElements?.define("rhae-player", RhaePlayer);
