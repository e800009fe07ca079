// @ts-check
/**
 * The play page: sends the player's actions as commands, and shows the responses on the stage.
 *
 * The first input opens the play. Before that the page shows the first frame, so that looking at an environment neither creates a key nor
 * counts on a scorecard.
 */

import { RESET } from "./reel.js";
import { Connection } from "./connection.js";
import { Stage } from "./stage.js";

/** @typedef {import("./stage.js").Input} Input
 * @typedef {import("./stage.js").Shown & {guid: string, full_reset: boolean, counted: boolean}} CompactResponse */

const page = /** @type {HTMLElement} */ (document.querySelector(".play"));
const game = page.dataset.game ?? "";
const connection = new Connection(game, (lost) => stage.setDisconnected(lost));
const stage = new Stage(page, { execute, reset, shown: showFacts, completed: describeLevel });
const part = (/** @type {string} */ name) => stage.part(name);
const confirmDialog = /** @type {HTMLDialogElement} */ (part("confirm"));

/** The play; empty until the first input opens it. */
let guid = "";
let card = "";
let actions = 0;
/** Whether RESET would restart the whole game rather than the level. */
let resetRestartsGame = true;

/** Updates the counts, the level dots and the visible buttons. */
function showFacts() {
  const levels = Number(page.dataset.levels);
  const { completed, state } = stage;
  part("level").textContent = String(Math.min(completed + 1, levels));
  part("actions").textContent = String(actions);
  part("dots").querySelectorAll("i").forEach((dot, at) => {
    dot.classList.toggle("on", at < completed);
    dot.classList.toggle("now", at === completed && state !== "WIN");
  });
  stage.showButtons();
}

/** @param {import("./stage.js").Shown} answer @param {number} before */
function describeLevel(answer, before) {
  return `Level ${before + 1} completed. Level ${answer.level} of ${answer.win_levels}.`;
}

/** Shows the outcome of a finished play. */
function showOutcome() {
  const outcome = part("outcome");
  const { state } = stage;
  const name = state === "WIN" ? "won" : state === "GAME_OVER" ? "lost" : null;
  outcome.hidden = name === null;
  outcome.replaceChildren();
  if (!name) return;
  outcome.append(/** @type {HTMLTemplateElement} */ (part(name)).content.cloneNode(true));
  outcome.querySelector("[data-show=replay]")?.setAttribute("href", `/replay/${guid}`);
  /** @type {HTMLElement | null} */ (outcome.querySelector("button, a"))?.focus({ preventScroll: true });
}

/** @param {CompactResponse} answer @param {boolean} animate whether to show animations */
async function show(answer, animate) {
  guid = answer.guid;
  await stage.show(answer, animate);
  if (answer.state === "WIN") stage.announce(`All ${answer.win_levels} levels completed.`);
  showOutcome();
}

/** Sends an action. @param {Input} input @returns {Promise<boolean>} whether queued inputs can follow */
async function execute({ action, ...place }) {
  if (!guid && !(await openPlay())) return false;
  const answer = await connection.command(`/api/cmd/${action === RESET ? "RESET" : `ACTION${action}`}`, { game_id: game, guid, ...place });
  if (answer.status !== 200) {
    await loadPlay();
    return true;
  }
  const levels = stage.completed;
  if (answer.data.counted) actions++;
  if (answer.data.full_reset) stage.announce("Restarted from level 1.");
  resetRestartsGame = action === RESET || answer.data.levels_completed !== levels;
  await show(answer.data, true);
  return true;
}

/** Resets the level. A reset of the whole game is confirmed first. */
function reset() {
  if (!stage.ready || stage.disconnected) return;
  const won = stage.state === "WIN";
  if (!resetRestartsGame && !won) return stage.sendReset();
  if (stage.completed === 0 && !won) return;
  confirmDialog.returnValue = "no";
  confirmDialog.showModal();
}

/** Loads the visitor's play, or else shows the first frame of the environment. */
async function loadPlay() {
  const pending = connection.pending();
  if (pending) await connection.finish(pending);
  const found = await connection.request(`/play/${game}/state`);
  if (found.status === 401) return location.assign("/enter");
  if (found.status !== 200) return void showError(found.data?.message);
  const { answer, preview } = found.data;
  card = found.data.card_id ?? "";
  actions = found.data.actions ?? 0;
  resetRestartsGame = found.data.reset_starts_anew ?? true;
  stage.completed = (answer ?? preview).levels_completed;
  await show(answer ?? preview, false);
}

/**
 * Opens a play, and before that a scorecard if the visitor has none.
 * @returns {Promise<boolean>} whether the input that caused it can be sent
 */
async function openPlay() {
  await connection.request("/visit", { method: "POST" });
  // The visitor may have started to play in another window.
  await loadPlay();
  if (guid) return false;
  if (!card) {
    const opened = await connection.command("/api/scorecard/open", { tags: ["human", "browser"] });
    if (opened.status !== 200) return showError(opened.data?.message);
    card = opened.data.card_id;
  }
  const opened = await connection.command("/api/cmd/RESET", { game_id: game, card_id: card });
  if (opened.status !== 200) return showError(opened.data?.message);
  [actions, stage.completed, resetRestartsGame] = [0, 0, true];
  await show(opened.data, false);
  return true;
}

/** @param {string} [reason] @returns {false} */
function showError(reason) {
  const message = part("connection");
  message.textContent = reason ?? "This environment cannot be played at the moment.";
  message.hidden = false;
  stage.available = new Set();
  showFacts();
  return false;
}

// The `close` event is delayed. By then the dialog may have been opened again without a choice, or opened and closed again. In the second
// case the event fires twice, and the choice must count once.
confirmDialog.addEventListener("close", () => {
  if (confirmDialog.open || confirmDialog.returnValue !== "yes") return;
  confirmDialog.returnValue = "no";
  stage.sendReset();
});

showFacts();
await loadPlay();
stage.ready = true;
page.classList.add("ready");
stage.announce(`Level ${Math.min(stage.completed + 1, Number(page.dataset.levels))} of ${page.dataset.levels}.`);
