// @ts-check
/**
 * The style, template and icons of `<rhae-player>`.
 *
 * All texts are constants. Untrusted text is never inserted into the template.
 */

export const ICONS = {
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

export const PLAYER_STYLE = `
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
.perceived { margin: 0; white-space: pre-line; font-size: 14px; min-height: 5em; }
.more { border-color: var(--line); height: 30px; margin-top: 8px; }
.error { padding: 12px; border: 1px solid var(--line); }
.legend { margin: 0; display: flex; flex-wrap: wrap; gap: 4px 14px; } .legend svg { width: 8px; height: 12px; vertical-align: -2px; }
.legend path { stroke: currentColor; fill: none; }
[hidden] { display: none !important; }
@container (min-width: 700px) { .player { grid-template-columns: minmax(0, var(--film, 512px)) minmax(220px, 1fr); } .film { margin: 0; } }
@media print { :host { display: none; } }
`;

export const PLAYER_TEMPLATE = `<div class="player" tabindex="0" role="group">
  <div class="film">
    <rhae-board role="img" aria-label="Frame"></rhae-board>
    <canvas class="strip" aria-hidden="true"></canvas>
    <div class="bar">
      <svg class="marks" preserveAspectRatio="none" aria-hidden="true">
        <path class="unchanged"/><path class="levels"/></svg>
      <input type="range" min="0" value="0" aria-label="Action">
    </div>
    <div class="controls">${button("first", "To the start")}${button("back", "Previous action")}${button("play", "Play")}
      ${button("next", "Next action")}${button("last", "To the end")}
      <span class="more-controls"><button type="button" data-do="live" hidden>Live</button>
      <select aria-label="Speed" title="Speed">${[0.5, 1, 2, 4, 8, 16].map((speed) => `<option value="${speed}"${speed === 1 ? " selected" : ""}>${speed}×</option>`).join("")}<option value="recorded" hidden>Recorded pace</option></select>
      <button type="button" data-do="changes" aria-pressed="false" title="Changes since the previous action (D)">Changes</button>
      <button type="button" data-do="objects" aria-pressed="false" title="Objects that changed, and status bars (O)" hidden>Objects</button>
      <button type="button" data-do="signs" aria-pressed="false" title="Symbols on colours, for colour-blind viewers">Symbols</button></span>
    </div>
  </div>
  <div class="side">
    <div class="levels"><span class="label">Level&nbsp;</span></div>
    <dl><dt>Action</dt><dd data-show="action"></dd><dt>Effect</dt><dd data-show="effect"></dd><dt>Frame</dt><dd data-show="frame"></dd><dt>Actions</dt><dd data-show="count"></dd>
      <dt>On this level</dt><dd data-show="level"></dd><dt>State</dt><dd data-show="state"></dd>
      <dt class="work" hidden>Model</dt><dd class="work" data-show="requests" hidden></dd><dt class="work" hidden>Model cost</dt><dd class="work" data-show="cost" hidden></dd>
      <dt class="work" hidden>Context</dt><dd class="work" data-show="context" hidden></dd></dl>
    <p class="perceived" hidden></p>
    <p class="legend"><span><svg viewBox="0 0 8 12"><path stroke-width="2" d="M4 0v12"/></svg> level completed</span>
      <span><svg viewBox="0 0 8 12"><path d="M4 6v6"/></svg> changed nothing</span></p>
    <details hidden open><summary>Reasoning</summary><p class="reasoning" tabindex="0" role="region" aria-label="Reasoning"></p>
      <button type="button" class="more" data-do="unfold" hidden></button></details>
  </div>
</div>
<p class="error" role="alert" hidden></p>`;
