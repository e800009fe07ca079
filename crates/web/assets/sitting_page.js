// @ts-check
/** The pages of a participant apart from the environments: sends their forms, stays in contact, and follows the step of the sitting. */

import { Countdown, connect, send, showStep, stayInContact, timeText, token, wipeStorage } from "./sitting.js";
import { enableForms } from "./forms.js";

/** How often a page asks whether somebody was checked in at its seat. */
const POLL_MS = 3000;
const IN_SITTING = ["between", "ready", "paused"];
/** The names that recruiting platforms give to the ids of a participant, their study and their session. */
const PLATFORMS = [
  ["PROLIFIC_PID", "STUDY_ID", "SESSION_ID"],
  ["workerId", "hitId", "assignmentId"],
  ["id", "", ""],
];
const MTURK_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE";

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const { place, step = "" } = main.dataset;
const part = (/** @type {string} */ name) => /** @type {HTMLElement | null} */ (document.querySelector(`[data-show=${name}]`));
const connection = connect((lost) => part("connection")?.toggleAttribute("hidden", !lost));

/** @param {string} message */
function showProblem(message) {
  const problem = part("problem");
  if (!problem) return;
  problem.textContent = message;
  problem.hidden = false;
  problem.scrollIntoView({ block: "nearest" });
}

/** Sends a form as a command. @param {HTMLFormElement} form @param {Record<string, unknown>} fields */
async function submit(form, fields) {
  const command = form.dataset.command ?? "";
  let answer = await send(connection, command, fields);
  if (answer.status === 200 && form.dataset.then === "start" && answer.data.step === "ready") {
    answer = await send(connection, "start", { environment: answer.data.environment });
  }
  if (answer.status !== 200) return showProblem(answer.data?.message ?? "This did not work. Please reload the page.");
  if (command === "withdraw") return showReceipt(answer.data);
  if (form.dataset.done) return form.replaceChildren(form.dataset.done);
  showStep();
}

/** Shows the receipt of a withdrawal. It is shown here because deleted data cannot be asked for again. @param {import("./sitting.js").View} view */
function showReceipt(view) {
  const [choice, receipt, text, number] = ["choice", "receipt", "receipt-text", "receipt-number"].map(part);
  if (!choice || !receipt || !text || !number) return;
  choice.hidden = true;
  receipt.hidden = false;
  text.textContent = view.step === "erased" ? "Your data was deleted." : "Your data until then is kept.";
  number.textContent = view.receipt ?? "";
  receipt.focus();
  if (view.kiosk || document.body.classList.contains("kiosk")) wipeStorage();
}

/** Shows the times that are left. */
function showTimes() {
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-ms]"))) {
    const countdown = new Countdown((ms) => (element.textContent = timeText(ms)));
    countdown.set(Number(element.dataset.ms), "stopped" in element.dataset);
  }
}

/** Creates the personal link of a person whom a recruiting platform sends. */
async function arrive() {
  const query = new URLSearchParams(location.search);
  const platform = PLATFORMS.find(([person]) => query.has(person));
  const [person, study, session] = (platform ?? []).map((name) => query.get(name) ?? "");
  if (!person || session === MTURK_PREVIEW) {
    part("arriving")?.setAttribute("hidden", "");
    part("preview")?.removeAttribute("hidden");
    return;
  }
  const answer = await connection.request("/api/arrivals", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ link: token, external_id: person, study_ref: study, session_ref: session }),
  });
  if (answer.status === 200) location.replace(answer.data.path);
  else showProblem(answer.data?.message ?? "Your place in the study cannot be prepared. Please try again later.");
}

/** Shows the page of the step as soon as it changes. */
async function followStep() {
  const answer = await connection.request("/api/sitting");
  if (answer.status !== 200 || answer.data.step !== step) showStep();
}

enableForms(submit);
showTimes();
if (place === "home") {
  if (step === "arrival") await arrive();
  const kiosk = document.body.classList.contains("kiosk");
  if (kiosk && ["ended", "declined", "withdrawn", "erased", "seat_free"].includes(step)) wipeStorage();
  if (step === "seat_free" || (kiosk && ["ended", "declined", "withdrawn", "erased"].includes(step))) setInterval(followStep, POLL_MS);
  if (IN_SITTING.includes(step)) {
    stayInContact(connection, (view) => {
      if (view.step !== step) showStep();
    });
  }
}
