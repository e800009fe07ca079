// @ts-check
/** The check of a participant's device: the window, the keyboard, the pointer, and the colours. */

import { setSymbols } from "./board.js";
import { connect, send, showStep } from "./sitting.js";

/** The smallest window in which the cells of a board are large enough. */
const MIN_SIDE = 320;
const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "KeyW", "KeyA", "KeyS", "KeyD"];

const form = /** @type {HTMLFormElement} */ (document.querySelector("form"));
const part = (/** @type {string} */ name) => /** @type {HTMLElement} */ (document.querySelector(`[data-show=${name}]`));
const button = /** @type {HTMLButtonElement} */ (form.querySelector("button.strong"));
const connection = connect((lost) => part("connection").toggleAttribute("hidden", !lost));
const found = { keyboard: false, pointer: false };

/** @param {"keyboard" | "pointer"} device */
function setFound(device) {
  found[device] = true;
  part(device).textContent = "It works.";
  button.disabled = false;
}

function measure() {
  const fits = Math.min(innerWidth, innerHeight) >= MIN_SIDE;
  part("window").textContent = fits ? "Your window is large enough." : "Your window is small. Please make it larger, or turn your phone upright.";
}

/** Whether the odd square of every row was found. */
function coloursDistinguished() {
  const rows = [...form.querySelectorAll("fieldset")];
  return rows.every((row) => /** @type {HTMLInputElement | null} */ (row.querySelector("input:checked"))?.value === row.dataset.odd);
}

addEventListener("resize", measure);
document.addEventListener("keydown", (event) => {
  if (KEYS.includes(event.code)) setFound("keyboard");
});
form.querySelector("[data-do=pointer]")?.addEventListener("click", (event) => {
  // A button that is pressed with the keyboard reports no clicks.
  if (/** @type {MouseEvent} */ (event).detail > 0) setFound("pointer");
});
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  const colours_distinguished = coloursDistinguished();
  if (!colours_distinguished) setSymbols(true);
  const answer = await send(connection, "check_device", { ...found, colours_distinguished });
  if (answer.status === 200) return showStep();
  button.disabled = false;
  part("problem").textContent = answer.data?.message ?? "This did not work. Please reload the page.";
  part("problem").hidden = false;
});
measure();
