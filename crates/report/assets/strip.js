// @ts-check
/**
 * A strip of action icons around the current action, on a canvas. A line with a number marks a completed level.
 *
 * The strip uses the moments and the index of the current one, but no frames. The icons have the text colour of the canvas.
 */

/** The icon of each action in a field of 16 × 16: circular arrow, four arrows, bar, target, return arrow. */
const ACTION_ICONS = [
  "M12.5 8A4.5 4.5 0 1 1 8 3.5H11M9 1L11.5 3.5L9 6", "M8 13V3.5M4 7.5L8 3.5L12 7.5", "M8 3V12.5M4 8.5L8 12.5L12 8.5",
  "M13 8H3.5M7.5 4L3.5 8L7.5 12", "M3 8H12.5M8.5 4L12.5 8L8.5 12", "M3 6.5V10.5H13V6.5", "M8 8.5V7.5M3.5 8A4.5 4.5 0 1 0 12.5 8A4.5 4.5 0 1 0 3.5 8",
  "M13 12.5V9A3 3 0 0 0 10 6H3.5M6.5 3L3.5 6L6.5 9",
];
const STRIP_FIELD = 26;
/** Space for the number of a level that the last action completed. */
const STRIP_END = 12;
/** @type {Path2D[]} */
const actionPaths = [];

/** @typedef {import("./reel.js").Moment} StripMoment */

export class Strip {
  /** @type {HTMLCanvasElement} */
  #canvas;
  /** @type {StripMoment[]} */
  #moments = [];
  #shown = 0;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.#canvas = canvas;
  }

  /** @param {StripMoment[]} moments @param {number} shown */
  show(moments, shown) {
    this.#moments = moments;
    this.#shown = shown;
    this.draw();
  }

  /** Redraws the strip, for example after its size or the text colour changed. */
  draw() {
    const ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [this.#canvas.clientWidth, this.#canvas.clientHeight];
    const pen = this.#canvas.getContext("2d");
    if (!pen || this.#moments.length === 0 || width === 0) return;
    const wide = Math.round(width * ratio);
    if (this.#canvas.width !== wide) [this.#canvas.width, this.#canvas.height] = [wide, Math.round(height * ratio)];
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.strokeStyle = pen.fillStyle = getComputedStyle(this.#canvas).color;
    pen.lineWidth = 1.5;
    const left = this.#left(width);
    const first = Math.max(0, Math.floor(left / STRIP_FIELD));
    for (let at = first; at < this.#moments.length && at * STRIP_FIELD - left < width; at++) this.#field(pen, at, at * STRIP_FIELD - left);
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} at @param {number} x */
  #field(pen, at, x) {
    const moment = this.#moments[at];
    if (at === this.#shown) {
      pen.globalAlpha = 0.14;
      pen.beginPath();
      pen.roundRect(x + 1, 5, STRIP_FIELD - 2, 24, 5);
      pen.fill();
    }
    pen.globalAlpha = moment.counted && !moment.changed ? 0.4 : 1;
    pen.save();
    pen.translate(x + STRIP_FIELD / 2 - 8, 9);
    pen.stroke((actionPaths[moment.action] ??= new Path2D(ACTION_ICONS[moment.action])));
    pen.restore();
    pen.globalAlpha = 1;
    if (moment.levels > moment.level) {
      pen.fillRect(x + STRIP_FIELD - 1, 1, 2, 32);
      pen.font = "600 10px system-ui, sans-serif";
      pen.fillText(String(moment.levels), x + STRIP_FIELD + 3, 8);
    }
  }

  /** Returns the index of the moment at a position of the canvas, or -1. @param {number} x */
  at(x) {
    const at = Math.floor((x + this.#left(this.#canvas.clientWidth)) / STRIP_FIELD);
    return at >= 0 && at < this.#moments.length ? at : -1;
  }

  /** Returns the scroll offset that centres the current action, except near the ends. @param {number} width */
  #left(width) {
    const total = this.#moments.length * STRIP_FIELD + STRIP_END;
    return Math.max(0, Math.min(total - width, (this.#shown + 0.5) * STRIP_FIELD - width / 2));
  }
}
