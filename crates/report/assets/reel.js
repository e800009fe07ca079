// @ts-check
/**
 * The frames of a play in the packed form (described in `crates/protocol/src/packed.rs`): unpacking and packing.
 *
 * A `Reel` can be asked for any frame in any order and can be added to while a play goes on.
 */

export const SIZE = 64;
export const CELLS = SIZE * SIZE;
export const VERSION = 1;
export const RESET = 0;
export const CLICK = 6;
/** A whole frame is kept of every so many that were unpacked, so that a jump back costs no more than this. */
const SNAPSHOT_EVERY = 64;

/**
 * One command and what it showed: `count` frames from `first` on, the settled one last.
 * `number` counts the actions so far, `inLevel` those of the level that the command was taken in.
 * @typedef {{action: number, x: number, y: number, state: number, levels: number, changed: boolean, counted: boolean,
 *   fullReset: boolean, first: number, count: number, number: number, level: number, inLevel: number}} Moment
 */

/**
 * The bytes of a base64 text.
 * @param {string} text
 */
export function bytesOf(text) {
  return Uint8Array.from(atob(text), (digit) => digit.charCodeAt(0));
}

/** The frames of a film, unpacked as they are asked for, in any order. Opening one only finds where its frames are. */
export class Reel {
  /** @type {Moment[]} */
  moments = [];
  /** Where each frame's bytes are: which part, and the offset in it.
   * @type {number[]} */
  #offsets = [];
  /** @type {number[]} */
  #partOf = [];
  /** Frames that are given against an empty one. @type {Set<number>} */
  #whole = new Set();
  /** @type {Uint8Array[]} */
  #parts = [];
  /** @type {Uint8Array[]} */
  #snapshots = [];
  #cells = new Uint8Array(CELLS);
  #shown = -1;
  #number = 0;
  #inLevel = 0;
  #level = 0;

  /** @param {Uint8Array} [bytes] */
  constructor(bytes) {
    if (!bytes) return;
    this.append(bytes, true);
    if (this.#offsets.length === 0) throw new Error("the film is empty");
  }

  /** How many frames there are. */
  get length() {
    return this.#offsets.length;
  }

  /**
   * Adds moments; `whole` if the first frame is given against an empty one instead of the last.
   * @param {Uint8Array} bytes @param {boolean} whole
   */
  append(bytes, whole) {
    const part = this.#parts.push(bytes) - 1;
    let at = 0;
    let first = true;
    while (at < bytes.length) {
      const head = bytes[at];
      const action = head & 7;
      const levels = bytes[at + 1];
      const count = bytes[at + 2] | (bytes[at + 3] << 8);
      const counted = (head & 64) !== 0;
      const fullReset = (head & 128) !== 0;
      const clicked = action === CLICK;
      const x = clicked ? bytes[at + 4] : -1;
      const y = clicked ? bytes[at + 5] : -1;
      at += clicked ? 6 : 4;
      const begins = this.#offsets.length;
      for (let frame = 0; frame < count && at < bytes.length; frame++) {
        if (first && whole) this.#whole.add(this.#offsets.length);
        first = false;
        this.#offsets.push(at);
        this.#partOf.push(part);
        for (let bands = bytes[at++]; bands > 0; bands--) at += 3 + 2 * bytes[at + 2];
      }
      if (counted) this.#number++;
      if (fullReset) {
        this.#inLevel = 0;
        this.#level = levels;
      } else if (counted) this.#inLevel++;
      this.moments.push({
        action, x, y, state: (head >> 3) & 3, levels, changed: (head & 32) !== 0, counted, fullReset, first: begins, count,
        number: this.#number, level: this.#level, inLevel: this.#inLevel,
      });
      if (levels !== this.#level) {
        this.#level = levels;
        this.#inLevel = 0;
      }
    }
    if (at !== bytes.length) throw new Error("the film is cut off");
  }

  /**
   * The 4096 cells of a frame, row by row; valid until the next call.
   * @param {number} frame
   */
  frame(frame) {
    const nearest = Math.min(Math.floor(frame / SNAPSHOT_EVERY), this.#snapshots.length - 1);
    if (frame < this.#shown || nearest * SNAPSHOT_EVERY > this.#shown) {
      this.#cells.set(this.#snapshots[nearest]);
      this.#shown = nearest * SNAPSHOT_EVERY;
    }
    while (this.#shown < frame) {
      this.#shown++;
      if (this.#whole.has(this.#shown)) this.#cells.fill(0);
      this.#apply(this.#parts[this.#partOf[this.#shown]], this.#offsets[this.#shown]);
      if (this.#shown === this.#snapshots.length * SNAPSHOT_EVERY) this.#snapshots.push(this.#cells.slice());
    }
    return this.#cells;
  }

  /**
   * The frame that a command left behind.
   * @param {number} moment
   */
  settled(moment) {
    const { first, count } = this.moments[moment];
    return Math.max(0, first + count - 1);
  }

  /**
   * Changes the cells as the frame at this offset says.
   * @param {Uint8Array} bytes @param {number} at
   */
  #apply(bytes, at) {
    const cells = this.#cells;
    for (let bands = bytes[at++]; bands > 0; bands--) {
      const from = bytes[at] * SIZE;
      const to = from + bytes[at + 1] * SIZE;
      const end = at + 3 + 2 * bytes[at + 2];
      for (at += 3; at < end; at += 2) {
        const bits = bytes[at] | (bytes[at + 1] << 8);
        const x = bits & 63;
        const length = ((bits >> 6) & 63) + 1;
        const color = bits >> 12;
        for (let row = from + x; row < to; row += SIZE) for (let cell = row; cell < row + length; cell++) cells[cell] = color;
      }
    }
  }
}

/**
 * What is packed: a command, where the play stood afterwards, and the frames.
 * @typedef {{action: number, x: number, y: number, state: number, levels: number, changed: boolean, counted: boolean,
 *   fullReset: boolean, frames: Uint8Array[]}} Shown
 */

/** Packs one observation after the other. */
export class Packer {
  #before = new Uint8Array(CELLS);
  /** @type {number[]} */
  #bytes = [];

  /** @param {Shown} shown */
  add(shown) {
    const flags = [shown.changed, shown.counted, shown.fullReset].reduce((bits, flag, at) => bits | (flag ? 32 << at : 0), 0);
    const count = Math.min(shown.frames.length, 0xffff);
    this.#bytes.push(shown.action | (shown.state << 3) | flags, shown.levels, count & 255, count >> 8);
    if (shown.action === CLICK) this.#bytes.push(shown.x, shown.y);
    for (const frame of shown.frames.slice(shown.frames.length - count)) {
      this.#frame(frame);
      this.#before = frame;
    }
  }

  bytes() {
    return Uint8Array.from(this.#bytes);
  }

  /** @param {Uint8Array} frame */
  #frame(frame) {
    const bytes = this.#bytes;
    const bandsAt = bytes.push(0) - 1;
    /** @type {{at: number, runs: number[]} | null} */
    let open = null;
    for (let y = 0; y < SIZE; y++) {
      const runs = this.#runs(frame, y * SIZE);
      if (open && runs.length > 0 && open.runs.length === runs.length && open.runs.every((run, at) => run === runs[at])) {
        bytes[open.at + 1]++;
        continue;
      }
      open = null;
      if (runs.length === 0) continue;
      bytes[bandsAt]++;
      open = { at: bytes.length, runs };
      bytes.push(y, 1, runs.length);
      for (const run of runs) bytes.push(run & 255, run >> 8);
    }
  }

  /**
   * The runs of one row: each begins and ends with a changed cell and has one colour.
   * @param {Uint8Array} frame @param {number} row where it begins
   */
  #runs(frame, row) {
    /** @type {number[]} */
    const runs = [];
    for (let x = 0; x < SIZE; ) {
      const color = frame[row + x];
      if (this.#before[row + x] === color) {
        x++;
        continue;
      }
      let last = x;
      for (let at = x; at < SIZE && frame[row + at] === color; at++) if (this.#before[row + at] !== color) last = at;
      runs.push(x | ((last - x) << 6) | (color << 12));
      x = last + 1;
    }
    return runs;
  }
}
