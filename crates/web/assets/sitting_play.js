// @ts-check
/**
 * The page on which a participant plays an environment. It shows the time that is left in the sitting, but no levels, counts or scores.
 *
 * The server decides when the time is up. The page learns it from the response to an action or to a contact, and then shows the page
 * of the current step.
 */

import { RESET } from "./reel.js";
import { Countdown, connect, send, showStep, stayInContact, timeText } from "./sitting.js";
import { Stage } from "./stage.js";

/** @typedef {import("./stage.js").Input} Input @typedef {import("./sitting.js").View} View */

const page = /** @type {HTMLElement} */ (document.querySelector(".play"));
const environment = Number(page.dataset.environment);
const connection = connect((lost) => stage.setDisconnected(lost));
const stage = new Stage(page, { execute, reset: () => stage.sendReset(), shown: () => stage.showButtons(), completed: () => "Level completed." });
const part = (/** @type {string} */ name) => stage.part(name);
const leaveDialog = /** @type {HTMLDialogElement} */ (part("confirm"));
const remaining = new Countdown((ms) => (part("remaining").textContent = timeText(ms)));
/** The prompts to conclude that the participant has answered. */
let answeredPrompts = 0;

/** Shows how a play stands that cannot continue without the participant. */
function showOutcome() {
  const outcome = part("outcome");
  const name = stage.state === "WIN" ? "won" : stage.state === "GAME_OVER" ? "lost" : null;
  outcome.hidden = name === null;
  outcome.replaceChildren();
  if (!name) return;
  outcome.append(/** @type {HTMLTemplateElement} */ (part(name)).content.cloneNode(true));
  /** @type {HTMLElement | null} */ (outcome.querySelector("button, a"))?.focus({ preventScroll: true });
  if (name === "won") {
    stage.announce("Environment completed.");
    part("banner").hidden = true;
  }
}

/** Sends an action. @param {Input} input @returns {Promise<boolean>} whether queued inputs can follow */
async function execute({ action, ...place }) {
  const name = action === RESET ? "RESET" : `ACTION${action}`;
  const answer = await connection.command(`/api/sitting/actions/${name}`, { environment, ...place });
  if (answer.status === 409) {
    showStep();
    return false;
  }
  if (answer.status !== 200) {
    await load();
    return false;
  }
  await stage.show(answer.data, true);
  showOutcome();
  return true;
}

/** Shows the current frame. An action to which an earlier page did not receive a response is completed first. */
async function load() {
  const pending = connection.pending();
  if (pending) await connection.finish(pending);
  const answer = await connection.request("/api/sitting");
  if (answer.status !== 200 || !isHere(answer.data)) return showStep();
  stage.completed = answer.data.frame.levels_completed;
  showTime(answer.data);
  await stage.show(answer.data.frame, false);
  showOutcome();
  stage.ready = true;
  page.classList.add("ready");
}

/** Whether the sitting is still in this environment. @param {View} view */
function isHere(view) {
  return view.step === "environment" && view.environment === environment;
}

/** Shows the time that is left, and asks the participant to conclude when a prompt is due. @param {View} view */
function showTime({ clock }) {
  if (!clock) return;
  remaining.set(clock.remaining_ms, clock.stopped);
  const spent = clock.attempt_ms ?? 0;
  const due = clock.prompts_ms.filter((at) => spent >= at);
  const banner = part("banner");
  if (due.length <= answeredPrompts || stage.state === "WIN") return;
  const left = Math.max(0, clock.hard_ms - spent);
  part("banner-text").textContent = `You have spent ${timeSpent(spent)} on this one. It closes in ${timeText(left)}.`;
  if (banner.hidden) banner.hidden = false;
  banner.dataset.prompts = String(due.length);
}

/** @param {number} ms */
function timeSpent(ms) {
  const minutes = Math.floor(ms / 60000);
  return minutes === 0 ? "a while" : minutes === 1 ? "1 minute" : `${minutes} minutes`;
}

page.addEventListener("click", (event) => {
  const wish = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-do]"))?.dataset.do;
  if (wish === "leave") {
    leaveDialog.returnValue = "no";
    leaveDialog.showModal();
  } else if (wish === "go-on") {
    const banner = part("banner");
    answeredPrompts = Number(banner.dataset.prompts);
    banner.hidden = true;
    stage.board.focus({ preventScroll: true });
  }
});
leaveDialog.addEventListener("close", async () => {
  if (leaveDialog.open || leaveDialog.returnValue !== "yes") return;
  leaveDialog.returnValue = "no";
  stage.ready = false;
  await send(connection, "leave", { environment });
  showStep();
});

await load();
stayInContact(connection, (view) => {
  if (stage.state === "WIN") return;
  if (isHere(view)) showTime(view);
  else showStep();
});
