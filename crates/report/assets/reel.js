// @ts-check
/**
 * Unpacking and packing the frames of a play. The packed form is described in `crates/protocol/src/packed.rs`.
 *
 * A `Reel` returns frames in any order and can be extended while a play is in progress.
 */

export const SIZE = 64;
export const CELLS = SIZE * SIZE;
export const VERSION = 1;
export const RESET = 0;
export const CLICK = 6;
/** A complete frame is stored at this interval, which limits the cost of a jump back. */
const SNAPSHOT_EVERY = 64;

/**
 * One command with `count` frames starting at index `first`, the settled frame last.
 * `number` is the number of actions so far, `inLevel` the number of actions on the level of the command.
 * @typedef {{action: number, x: number, y: number, state: number, levels: number, changed: boolean, counted: boolean,
 *   fullReset: boolean, first: number, count: number, number: number, level: number, inLevel: number}} Moment
 */

/**
 * Decodes a base64 text.
 * @param {string} text
 */
export function bytesOf(text) {
  return Uint8Array.from(atob(text), (digit) => digit.charCodeAt(0));
}

/** The frames of a film, unpacked on demand in any order. The constructor only indexes them. */
export class Reel {
  /** @type {Moment[]} */
  moments = [];
  /** The offset of each frame in its part.
   * @type {number[]} */
  #offsets = [];
  /** The index of the part that contains each frame. @type {number[]} */
  #partOf = [];
  /** Frames that are encoded relative to an empty frame. @type {Set<number>} */
  #keyframes = new Set();
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

  /** The number of frames. */
  get length() {
    return this.#offsets.length;
  }

  /**
   * Appends moments. `keyframe` says that the first frame is encoded relative to an empty frame instead of the last one.
   * @param {Uint8Array} bytes @param {boolean} keyframe
   */
  append(bytes, keyframe) {
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
      const firstFrame = this.#offsets.length;
      for (let frame = 0; frame < count && at < bytes.length; frame++) {
        if (first && keyframe) this.#keyframes.add(this.#offsets.length);
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
        action, x, y, state: (head >> 3) & 3, levels, changed: (head & 32) !== 0, counted, fullReset, first: firstFrame, count,
        number: this.#number, level: this.#level, inLevel: this.#inLevel,
      });
      if (levels !== this.#level) {
        this.#level = levels;
        this.#inLevel = 0;
      }
    }
    if (at !== bytes.length) throw new Error("the film is truncated");
  }

  /**
   * Returns the 4096 cells of a frame, row by row. The array is valid until the next call.
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
      if (this.#keyframes.has(this.#shown)) this.#cells.fill(0);
      this.#apply(this.#parts[this.#partOf[this.#shown]], this.#offsets[this.#shown]);
      if (this.#shown === this.#snapshots.length * SNAPSHOT_EVERY) this.#snapshots.push(this.#cells.slice());
    }
    return this.#cells;
  }

  /**
   * Returns the index of the settled frame of a command.
   * @param {number} moment
   */
  settled(moment) {
    const { first, count } = this.moments[moment];
    return Math.max(0, first + count - 1);
  }

  /**
   * Applies the frame at an offset to the cells.
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
 * The input of a `Packer`: a command, the state of the play after it, and the frames.
 * @typedef {{action: number, x: number, y: number, state: number, levels: number, changed: boolean, counted: boolean,
 *   fullReset: boolean, frames: Uint8Array[]}} Observation
 */

/** Packs consecutive observations. */
export class Packer {
  #before = new Uint8Array(CELLS);
  /** @type {number[]} */
  #bytes = [];

  /** @param {Observation} observation */
  add(observation) {
    const flags = [observation.changed, observation.counted, observation.fullReset].reduce((bits, flag, at) => bits | (flag ? 32 << at : 0), 0);
    const count = Math.min(observation.frames.length, 0xffff);
    this.#bytes.push(observation.action | (observation.state << 3) | flags, observation.levels, count & 255, count >> 8);
    if (observation.action === CLICK) this.#bytes.push(observation.x, observation.y);
    for (const frame of observation.frames.slice(observation.frames.length - count)) {
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
   * Returns the runs of one row. A run starts and ends with a changed cell and has one colour.
   * @param {Uint8Array} frame @param {number} row the index of its first cell
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
