// @ts-check
/** Exports replays as GIF and frames as PNG. It runs in the browser, so that local recordings can be exported without an upload. */

import { CELLS, Reel, SIZE } from "./reel.js";

const ZOOM = 4;
const PNG_ZOOM = 8;
/** The maximum number of pictures. A longer replay is thinned out: only every n-th action is shown, without its animation. */
const MAX_PICTURES = 1500;
const SETTLED_CS = 30;
const END_CS = 200;
const PALETTE =
  "FFFFFFCCCCCC999999666666333333000000E53AA3FF7BCCF93C311E93FF88D8F1FFDC00FF851B9212314FCC30A356D6";
/** The palette index of a cell that has not changed. */
const UNCHANGED = 16;
const CODE_BITS = 5;

/**
 * Encodes a replay as an animated GIF that loops forever. Each picture covers only the rectangle that changed.
 * @param {Reel} reel @param {number} speed frames per second
 */
export function replayAsGif(reel, speed) {
  const side = SIZE * ZOOM;
  /** @type {number[]} */
  const bytes = [...ascii("GIF89a"), ...short(side), ...short(side), 0x80 | 0x70 | (CODE_BITS - 1), 0, 0];
  for (let at = 0; at < 32; at++) for (let part = 0; part < 3; part++) bytes.push(Number.parseInt(PALETTE.slice(at * 6 + part * 2, at * 6 + part * 2 + 2) || "0", 16));
  bytes.push(0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0);
  const shots = shotsOf(reel, Math.max(2, Math.round(100 / Math.max(1, speed))));
  /** @type {Uint8Array | null} */
  let before = null;
  /** @type {{cells: Uint8Array, delay: number} | null} */
  let next = null;
  const parts = [Uint8Array.from(bytes)];
  const flush = () => {
    if (!next) return;
    parts.push(picture(before, next.cells, next.delay));
    before = next.cells;
  };
  for (const { frame, delay } of shots) {
    const cells = reel.frame(frame);
    if (next && cells.every((cell, at) => cell === /** @type {{cells: Uint8Array}} */ (next).cells[at])) {
      next.delay += delay;
      continue;
    }
    flush();
    next = { cells: cells.slice(), delay };
  }
  if (next) next.delay = END_CS;
  flush();
  parts.push(Uint8Array.of(0x3b));
  return new Blob(/** @type {BlobPart[]} */ (parts), { type: "image/gif" });
}

/** @param {Reel} reel @param {number} tick */
function shotsOf(reel, tick) {
  const step = Math.ceil(reel.moments.length / MAX_PICTURES);
  const whole = reel.length <= MAX_PICTURES;
  const shots = [];
  for (let at = 0; at < reel.moments.length; at++) {
    const { first, count, changed } = reel.moments[at];
    const last = at === reel.moments.length - 1;
    if (at % step !== 0 && !last) continue;
    if (whole) for (let frame = first; frame < first + count - 1; frame++) shots.push({ frame, delay: tick });
    shots.push({ frame: reel.settled(at), delay: changed ? Math.max(tick, SETTLED_CS) : tick });
  }
  return shots;
}

/** Encodes one picture: the rectangle that differs from the previous one. @param {Uint8Array | null} before @param {Uint8Array} cells @param {number} delay */
function picture(before, cells, delay) {
  let [left, top, right, bottom] = before ? [SIZE, SIZE, -1, -1] : [0, 0, SIZE - 1, SIZE - 1];
  for (let at = 0; before && at < CELLS; at++) {
    if (cells[at] === before[at]) continue;
    const [x, y] = [at % SIZE, Math.floor(at / SIZE)];
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
  }
  const [width, height] = [(right - left + 1) * ZOOM, (bottom - top + 1) * ZOOM];
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (top + Math.floor(y / ZOOM)) * SIZE + left + Math.floor(x / ZOOM);
      pixels[y * width + x] = before && before[at] === cells[at] ? UNCHANGED : cells[at];
    }
  }
  const head = [0x21, 0xf9, 4, (1 << 2) | (before ? 1 : 0), ...short(Math.min(0xffff, delay)), UNCHANGED, 0];
  head.push(0x2c, ...short(left * ZOOM), ...short(top * ZOOM), ...short(width), ...short(height), 0, CODE_BITS);
  return Uint8Array.from([...head, ...blocks(compressed(pixels))]);
}

/** GIF's variant of LZW: code lengths grow with the table, which is cleared when it is full. @param {Uint8Array} pixels */
function compressed(pixels) {
  const [clear, end] = [1 << CODE_BITS, (1 << CODE_BITS) + 1];
  /** @type {number[]} */
  const out = [];
  let [held, bits, size] = [0, 0, CODE_BITS + 1];
  const put = (/** @type {number} */ code) => {
    held |= code << bits;
    for (bits += size; bits >= 8; bits -= 8, held >>>= 8) out.push(held & 255);
  };
  /** @type {Map<number, number>} */
  let table = new Map();
  let next = end + 1;
  put(clear);
  let prefix = pixels[0];
  for (let at = 1; at < pixels.length; at++) {
    const key = (prefix << 8) | pixels[at];
    const known = table.get(key);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    put(prefix);
    if (next === 4096) {
      put(clear);
      [table, next, size] = [new Map(), end + 1, CODE_BITS + 1];
    } else {
      if (next === 1 << size) size++;
      table.set(key, next++);
    }
    prefix = pixels[at];
  }
  put(prefix);
  put(end);
  if (bits > 0) out.push(held & 255);
  return out;
}

/** @param {number[]} bytes */
function blocks(bytes) {
  /** @type {number[]} */
  const out = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.slice(at, at + 255);
    out.push(block.length);
    for (const byte of block) out.push(byte);
  }
  out.push(0);
  return out;
}

/** @param {string} text */
const ascii = (text) => [...text].map((letter) => letter.charCodeAt(0));
/** @param {number} number */
const short = (number) => [number & 255, number >> 8];

/** @param {Uint8Array} cells */
export function frameAsPng(cells) {
  const canvas = new OffscreenCanvas(SIZE * PNG_ZOOM, SIZE * PNG_ZOOM);
  const pen = canvas.getContext("2d");
  cells.forEach((cell, at) => {
    if (!pen) return;
    pen.fillStyle = `#${PALETTE.slice(cell * 6, cell * 6 + 6)}`;
    pen.fillRect((at % SIZE) * PNG_ZOOM, Math.floor(at / SIZE) * PNG_ZOOM, PNG_ZOOM, PNG_ZOOM);
  });
  return canvas.convertToBlob({ type: "image/png" });
}

/** Starts a download. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
