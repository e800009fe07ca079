// @ts-check
/**
 * `<rhae-board>`: a frame of 64 × 64 cells on a canvas, as large as its box allows at an integer number of screen pixels per cell.
 *
 * `show` draws cells, optionally with a ring around a clicked cell and with the differences to other cells. A click or a touch
 * dispatches `rhae-cell` with `detail.x` and `detail.y`. Symbols, one for each of the ten bright colours, help colour-blind
 * viewers. They are a setting of the viewer and are never sent or stored with a play.
 */

import { CELLS, SIZE } from "./reel.js";

const PALETTE = [
  "#FFFFFF", "#CCCCCC", "#999999", "#666666", "#333333", "#000000", "#E53AA3", "#FF7BCC",
  "#F93C31", "#1E93FF", "#88D8F1", "#FFDC00", "#FF851B", "#921231", "#4FCC30", "#A356D6",
];
/** The names of the colours, for screen readers. */
export const COLOR_NAMES = [
  "white", "light grey", "grey", "dark grey", "darker grey", "black", "magenta", "pink",
  "red", "blue", "light blue", "yellow", "orange", "maroon", "green", "purple",
];
/** The colours as bytes of an `ImageData`: red, green, blue, opaque. */
const COLORS = new Uint32Array(
  Uint8Array.from(PALETTE.flatMap((color) => [...[1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16)), 255])).buffer,
);
/** The symbol of each bright colour as a path in a cell of 8 × 8. The symbols of neighbouring cells join. */
const SYMBOLS = [
  "M0 8L8 0", "M0 0L8 8", "M0 4H8", "M4 0V8", "M4 0V8M0 4H8", "M4 3.9V4.1", "M0 0L8 8M0 8L8 0", "M1.5 1.5H6.5V6.5H1.5Z",
  "M1 5.5L4 2.5L7 5.5", "M2 4A2 2 0 1 0 6 4A2 2 0 1 0 2 4",
];
const FIRST_WITH_SYMBOL = 6;
/** Symbols are not drawn if a cell has fewer pixels than this. */
const MIN_SYMBOL_ZOOM = 4;
/** The key of the setting in the browser's storage. */
const SYMBOLS_KEY = "rhae-marks";

/** Returns whether the viewer has turned on symbols. */
export function symbolsAreOn() {
  try {
    return globalThis.localStorage?.getItem(SYMBOLS_KEY) === "1";
  } catch {
    // Some browsers deny storage to pages opened from a file.
    return false;
  }
}

/** @param {boolean} on */
export function setSymbols(on) {
  try {
    globalThis.localStorage?.setItem(SYMBOLS_KEY, on ? "1" : "0");
  } catch {
    // Without storage the setting lasts until the page is closed.
  }
  globalThis.dispatchEvent(new CustomEvent(SYMBOLS_KEY, { detail: on }));
}

/**
 * Creates a style sheet that a strict content security policy allows.
 * @param {string} text
 */
export function sheet(text) {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

/** @type {CSSStyleSheet | undefined} */
let boardSheet;
const BOARD_STYLE = `
:host { display: grid; place-items: center; min-width: 64px; min-height: 64px; touch-action: manipulation; }
canvas { display: block; image-rendering: pixelated; box-shadow: 0 0 0 1px var(--board-line, color-mix(in srgb, currentColor 16%, transparent)); }
`;

/**
 * Optional overlays: a ring around a cell, cells to compare with, and boxes: left, top, width, height, and 1 for a status bar.
 * @typedef {{ring?: {x: number, y: number} | null, compareWith?: Uint8Array | null, boxes?: number[][]}} Overlay
 */

const BoardBase = /** @type {typeof HTMLElement} */ (globalThis.HTMLElement ?? class {});

export class RhaeBoard extends BoardBase {
  #cells = new Uint8Array(CELLS);
  #shown = false;
  /** @type {Overlay} */
  #overlay = {};
  #showSymbols = symbolsAreOn();
  #zoom = 0;
  #canvas = document.createElement("canvas");
  #picture = new OffscreenCanvas(SIZE, SIZE);
  #pixels = new ImageData(SIZE, SIZE);
  /** @type {Map<number, OffscreenCanvas>} */
  #symbolCache = new Map();
  #resized = new ResizeObserver(() => this.#fit());
  #onSymbols = (/** @type {Event} */ event) => {
    this.#showSymbols = /** @type {CustomEvent<boolean>} */ (event).detail;
    this.#draw();
  };

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    root.adoptedStyleSheets = [(boardSheet ??= sheet(BOARD_STYLE))];
    this.#canvas.setAttribute("part", "canvas");
    root.append(this.#canvas);
    this.#canvas.addEventListener("pointerdown", (event) => this.#onPointer(event));
  }

  connectedCallback() {
    this.#resized.observe(this);
    globalThis.addEventListener(SYMBOLS_KEY, this.#onSymbols);
  }

  disconnectedCallback() {
    this.#resized.disconnect();
    globalThis.removeEventListener(SYMBOLS_KEY, this.#onSymbols);
  }

  /** The cells that are shown. */
  get cells() {
    return this.#cells;
  }

  /**
   * Copies and draws the cells.
   * @param {Uint8Array} cells @param {Overlay} [overlay]
   */
  show(cells, overlay = {}) {
    this.#cells.set(cells);
    this.#overlay = overlay;
    this.#shown = true;
    this.#draw();
  }

  /** Moves or removes the ring. @param {{x: number, y: number} | null} ring */
  ring(ring) {
    this.#overlay = { ...this.#overlay, ring };
    this.#draw();
  }

  /** Gives the canvas the largest size at which a cell is an integer number of screen pixels. */
  #fit() {
    const ratio = globalThis.devicePixelRatio || 1;
    const zoom = Math.max(1, Math.floor((Math.min(this.clientWidth, this.clientHeight) * ratio) / SIZE));
    if (zoom === this.#zoom) return;
    this.#zoom = zoom;
    this.#symbolCache.clear();
    this.#canvas.width = this.#canvas.height = zoom * SIZE;
    this.#canvas.style.width = this.#canvas.style.height = `${(zoom * SIZE) / ratio}px`;
    this.#draw();
  }

  /** @param {PointerEvent} event */
  #onPointer(event) {
    if (event.button !== 0) return;
    const box = this.#canvas.getBoundingClientRect();
    const cell = (/** @type {number} */ at, /** @type {number} */ length) => Math.max(0, Math.min(SIZE - 1, Math.floor((at / length) * SIZE)));
    const detail = { x: cell(event.clientX - box.left, box.width), y: cell(event.clientY - box.top, box.height) };
    this.dispatchEvent(new CustomEvent("rhae-cell", { detail }));
  }

  #draw() {
    const screen = this.#canvas.getContext("2d");
    const picture = this.#picture.getContext("2d");
    if (!screen || !picture || this.#zoom === 0 || !this.#shown) return;
    const pixels = new Uint32Array(this.#pixels.data.buffer);
    for (let cell = 0; cell < CELLS; cell++) pixels[cell] = COLORS[this.#cells[cell] & 15];
    picture.putImageData(this.#pixels, 0, 0);
    screen.imageSmoothingEnabled = false;
    screen.drawImage(this.#picture, 0, 0, this.#canvas.width, this.#canvas.height);
    if (this.#showSymbols && this.#zoom >= MIN_SYMBOL_ZOOM) this.#drawSymbols(screen);
    if (this.#overlay.compareWith) this.#drawChanges(screen, this.#overlay.compareWith);
    if (this.#overlay.boxes) this.#drawBoxes(screen, this.#overlay.boxes);
    if (this.#overlay.ring) this.#drawRing(screen, this.#overlay.ring);
  }

  /** @param {CanvasRenderingContext2D} screen */
  #drawSymbols(screen) {
    for (let cell = 0; cell < CELLS; cell++) {
      const color = this.#cells[cell] & 15;
      if (color < FIRST_WITH_SYMBOL) continue;
      screen.drawImage(this.#symbol(color), (cell % SIZE) * this.#zoom, Math.floor(cell / SIZE) * this.#zoom);
    }
  }

  /** Returns the symbol of a colour at the current size. @param {number} color */
  #symbol(color) {
    const known = this.#symbolCache.get(color);
    if (known) return known;
    const made = new OffscreenCanvas(this.#zoom, this.#zoom);
    const pen = made.getContext("2d");
    if (pen) {
      const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(PALETTE[color].slice(at, at + 2), 16));
      pen.scale(this.#zoom / 8, this.#zoom / 8);
      pen.strokeStyle = 0.299 * red + 0.587 * green + 0.114 * blue > 120 ? "#000000A0" : "#FFFFFFB0";
      pen.lineWidth = color === FIRST_WITH_SYMBOL + 5 ? 2.4 : 1.1;
      pen.lineCap = color === FIRST_WITH_SYMBOL + 5 ? "round" : "butt";
      pen.stroke(new Path2D(SYMBOLS[color - FIRST_WITH_SYMBOL]));
    }
    this.#symbolCache.set(color, made);
    return made;
  }

  /**
   * Dims unchanged cells and outlines changed ones.
   * @param {CanvasRenderingContext2D} screen @param {Uint8Array} before
   */
  #drawChanges(screen, before) {
    const zoom = this.#zoom;
    const differs = (/** @type {number} */ x, /** @type {number} */ y) =>
      x >= 0 && y >= 0 && x < SIZE && y < SIZE && this.#cells[y * SIZE + x] !== before[y * SIZE + x];
    screen.fillStyle = "#808080C4";
    const edges = new Path2D();
    for (let y = 0; y < SIZE; y++) {
      for (let x = 0; x < SIZE; x++) {
        if (!differs(x, y)) {
          screen.fillRect(x * zoom, y * zoom, zoom, zoom);
          continue;
        }
        const [left, top, right, bottom] = [x * zoom, y * zoom, (x + 1) * zoom, (y + 1) * zoom];
        if (!differs(x - 1, y)) edges.rect(left, top, 0, zoom);
        if (!differs(x + 1, y)) edges.rect(right, top, 0, zoom);
        if (!differs(x, y - 1)) edges.rect(left, top, zoom, 0);
        if (!differs(x, y + 1)) edges.rect(left, bottom, zoom, 0);
      }
    }
    for (const [color, width] of /** @type {[string, number][]} */ ([["#000", 4], ["#FFF", 2]])) {
      screen.strokeStyle = color;
      screen.lineWidth = Math.max(width / 2, (width * zoom) / 16);
      screen.stroke(edges);
    }
  }

  /**
   * Outlines objects, and status bars with dashes.
   * @param {CanvasRenderingContext2D} screen @param {number[][]} boxes
   */
  #drawBoxes(screen, boxes) {
    const zoom = this.#zoom;
    for (const [left, top, width, height, isIndicator] of boxes) {
      for (const [color, line] of /** @type {[string, number][]} */ ([["#000", 4], ["#FFF", 2]])) {
        screen.strokeStyle = color;
        screen.lineWidth = Math.max(line / 2, (line * zoom) / 12);
        screen.setLineDash(isIndicator ? [zoom, zoom] : []);
        screen.strokeRect(left * zoom, top * zoom, width * zoom, height * zoom);
      }
    }
    screen.setLineDash([]);
  }

  /**
   * Draws a white ring inside a black one around a cell, which is visible on every colour.
   * @param {CanvasRenderingContext2D} screen @param {{x: number, y: number}} cell
   */
  #drawRing(screen, { x, y }) {
    const zoom = this.#zoom;
    const radius = Math.max(1.6 * zoom, 8 * (globalThis.devicePixelRatio || 1));
    for (const [color, width] of /** @type {[string, number][]} */ ([["#000", 0.55], ["#FFF", 0.25]])) {
      screen.beginPath();
      screen.arc((x + 0.5) * zoom, (y + 0.5) * zoom, radius, 0, 2 * Math.PI);
      screen.strokeStyle = color;
      screen.lineWidth = width * radius;
      screen.stroke();
    }
  }
}

globalThis.customElements?.define("rhae-board", RhaeBoard);
