// @ts-check
/**
 * `<rhae-duo>` shows two plays of the same environment next to each other and keeps them at the same action of the same level.
 *
 * Its children are `<script type="application/json" data-label="…">` elements with films in the form of `player_data`. They are
 * parsed when the element becomes visible. Labels are untrusted and only set as `textContent`.
 *
 * A level of a play begins with the moment that completed the previous level, and ends with the moment that completes it.
 */

/** @typedef {import("./player.js").RhaePlayer} DuoPlayer */
/** @typedef {{start: number, end: number, completed: boolean}} LevelRange */

const ACTIONS_PER_SECOND = 4;

const DuoBase = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

class RhaeDuo extends DuoBase {
  /** @type {{label: string, text: string}[]} */
  #films = [];
  /** @type {DuoPlayer[]} */
  #players = [];
  /** @type {HTMLElement[]} */
  #captions = [];
  #level = 0;
  #offset = 0;
  /** Whether this element moves the players itself. */
  #moving = false;
  #timer = 0;
  #seen = new IntersectionObserver((entries) => {
    if (entries[entries.length - 1].isIntersecting) this.#build();
    else this.#pause();
  });

  connectedCallback() {
    this.#seen.observe(this);
  }

  disconnectedCallback() {
    this.#seen.disconnect();
    this.#pause();
  }

  /** The number of the current level, from 1. */
  get level() {
    return this.#level + 1;
  }

  /** The number of actions since the start of the level. */
  get offset() {
    return this.#offset;
  }

  /** The two players, the left one first. */
  get players() {
    return this.#players;
  }

  /** Shows an action of a level, counted from 1, in both players. @param {number} level @param {number} offset */
  show(level, offset) {
    this.#level = level - 1;
    this.#offset = Math.max(0, offset);
    this.#moving = true;
    for (const player of this.#players) {
      const range = this.#range(player, this.#level);
      if (range) player.seek(Math.min(range.start + this.#offset, range.end));
    }
    this.#moving = false;
    this.#refresh();
  }

  #build() {
    if (this.#players.length > 0) return;
    const scripts = [...this.querySelectorAll("script")];
    this.#films = scripts.map((script) => ({ label: script.dataset.label ?? "", text: script.textContent ?? "" }));
    const bar = this.#element("div", "duo-bar");
    const play = this.#element("button", "duo-play", "Play both");
    play.addEventListener("click", () => (this.#timer ? this.#pause() : this.#play()));
    const levels = this.#element("span", "duo-levels");
    const slider = /** @type {HTMLInputElement} */ (this.#element("input"));
    slider.type = "range";
    slider.min = "0";
    slider.setAttribute("aria-label", "Action of this level in both plays");
    slider.addEventListener("input", () => {
      this.#pause();
      this.show(this.level, Number(slider.value));
    });
    const together = this.#element("label");
    const box = /** @type {HTMLInputElement} */ (this.#element("input"));
    box.type = "checkbox";
    box.checked = true;
    together.append(box, "Synchronise");
    bar.append(play, levels, slider, this.#element("output"), together);
    const sides = this.#element("div", "duo-sides");
    for (const side of [0, 1]) sides.append(this.#side(side));
    this.append(bar, sides);
  }

  /** @param {number} side */
  #side(side) {
    const place = this.#element("div", "duo-side");
    const select = /** @type {HTMLSelectElement} */ (this.#element("select"));
    select.setAttribute("aria-label", side === 0 ? "Left play" : "Right play");
    this.#films.forEach((film, at) => {
      const option = /** @type {HTMLOptionElement} */ (this.#element("option", "", film.label));
      option.value = String(at);
      option.selected = at === Math.min(side, this.#films.length - 1);
      select.append(option);
    });
    const player = /** @type {DuoPlayer} */ (/** @type {unknown} */ (this.#element("rhae-player")));
    const load = () => {
      player.film = JSON.parse(this.#films[Number(select.value)].text);
    };
    select.addEventListener("change", () => {
      this.#pause();
      load();
    });
    player.addEventListener("rhae-moment", () => this.#onMoment(player));
    const caption = this.#element("p");
    this.#players.push(player);
    this.#captions.push(caption);
    load();
    place.append(select, caption, player);
    return place;
  }

  /** Follows a player that the user has moved. @param {DuoPlayer} player */
  #onMoment(player) {
    if (this.#moving) return;
    const moment = player.moments[player.moment];
    if (!moment) return;
    const together = /** @type {HTMLInputElement} */ (this.querySelector("input[type=checkbox]")).checked;
    const level = Math.min(moment.levels, this.#winLevels() - 1);
    const range = this.#range(player, level);
    if (!together || !range || player.moment < range.start) return this.#refresh();
    this.#level = level;
    this.#offset = player.moment - range.start;
    this.#moving = true;
    for (const other of this.#players) {
      const there = other === player ? null : this.#range(other, level);
      if (there) other.seek(Math.min(there.start + this.#offset, there.end));
    }
    this.#moving = false;
    this.#refresh();
  }

  /** Returns the moments of a level, counted from 0, or `null` if the play does not reach it.
   * @param {DuoPlayer} player @param {number} level @returns {LevelRange | null} */
  #range(player, level) {
    const moments = player.moments;
    const start = moments.findIndex((moment) => moment.levels >= level);
    if (start < 0) return null;
    let end = start;
    while (end + 1 < moments.length && moments[end + 1].levels === level) end++;
    const completed = end + 1 < moments.length && moments[end + 1].levels > level;
    return { start, end: completed ? end + 1 : end, completed };
  }

  #winLevels() {
    return Math.max(1, ...this.#players.map((player) => player.film?.win_levels ?? 1));
  }

  /** Returns the greatest number of actions on the current level. */
  #length() {
    const ranges = this.#players.map((player) => this.#range(player, this.#level));
    return Math.max(0, ...ranges.map((range) => (range ? range.end - range.start : 0)));
  }

  #refresh() {
    const levels = /** @type {HTMLElement} */ (this.querySelector(".duo-levels"));
    const slider = /** @type {HTMLInputElement} */ (this.querySelector("input[type=range]"));
    const output = this.querySelector("output");
    if (!levels || !slider || !output) return;
    while (levels.children.length < this.#winLevels()) {
      const level = levels.children.length + 1;
      const button = this.#element("button", "", String(level));
      button.setAttribute("aria-label", `Level ${level}`);
      button.addEventListener("click", () => {
        this.#pause();
        this.show(level, 0);
      });
      levels.append(button, " ");
    }
    [...levels.children].forEach((button, at) => {
      const reached = this.#players.some((player) => this.#range(player, at));
      /** @type {HTMLButtonElement} */ (button).disabled = !reached;
      button.setAttribute("aria-current", String(at === this.#level));
    });
    slider.max = String(this.#length());
    slider.value = String(this.#offset);
    output.textContent = `Level ${this.level}, action ${this.#offset} of ${this.#length()}`;
    this.#players.forEach((player, side) => {
      const range = this.#range(player, this.#level);
      const count = range ? range.end - range.start : 0;
      this.#captions[side].textContent = !range
        ? "does not reach this level"
        : range.completed
          ? `completes level ${this.level} after ${count} actions`
          : `does not complete level ${this.level} in ${count} actions`;
    });
  }

  #play() {
    if (this.#offset >= this.#length()) this.show(this.level, 0);
    this.#label("Pause both");
    this.#timer = setInterval(() => {
      if (this.#offset >= this.#length()) this.#pause();
      else this.show(this.level, this.#offset + 1);
    }, 1000 / ACTIONS_PER_SECOND);
  }

  #pause() {
    clearInterval(this.#timer);
    this.#timer = 0;
    this.#label("Play both");
  }

  /** @param {string} text */
  #label(text) {
    const play = this.querySelector(".duo-play");
    if (play) play.textContent = text;
  }

  /** @param {string} name @param {string} [className] @param {string} [text] */
  #element(name, className = "", text = "") {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text) element.textContent = text;
    if (name === "button") /** @type {HTMLButtonElement} */ (element).type = "button";
    return element;
  }
}

globalThis.customElements?.define("rhae-duo", RhaeDuo);
