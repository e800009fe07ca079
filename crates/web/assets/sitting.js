// @ts-check
/**
 * The connection of a participant's page: reads the token from the address, sends commands, and stays in contact.
 *
 * Commands are safe to repeat, so a command is sent until the server responds. While a sitting is open, the page is in contact every few
 * seconds, because the clock of the sitting stops without contact.
 */

import { Connection } from "./connection.js";

const CONTACT_MS = 5000;

/**
 * @typedef {{sitting_ms: number, remaining_ms: number, attempt_ms?: number, hard_ms: number, prompts_ms: number[], stopped: boolean, pause_left_ms: number}} Clock
 * @typedef {{step: string, environment?: number, clock?: Clock, frame?: any, receipt?: string, kiosk?: boolean}} View
 */

/** The part of the address that names the participant. */
export const token = location.pathname.split("/")[2] ?? "";
/** The address of the current step. */
const HOME = `/s/${token}`;

/** @param {(lost: boolean) => void} onLost */
export function connect(onLost) {
  return new Connection(`sitting:${token}`, onLost, { "X-Study-Token": token });
}

/**
 * Sends a command of the participant.
 * @param {Connection} connection @param {string} command @param {object} [fields]
 */
export function send(connection, command, fields = {}) {
  return connection.request("/api/sitting/commands", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ command, ...fields }),
  });
}

/** Shows the page of the current step. */
export function showStep() {
  if (location.pathname === HOME && !location.search) location.reload();
  else location.replace(HOME);
}

/**
 * Stays in contact with the server, and passes on what it says.
 * @param {Connection} connection @param {(view: View) => void} onView
 */
export function stayInContact(connection, onView) {
  let busy = false;
  const contact = async () => {
    if (busy) return;
    busy = true;
    const answer = await send(connection, "contact", { hidden: document.hidden });
    busy = false;
    if (answer.status === 200) onView(answer.data);
    else showStep();
  };
  setInterval(contact, CONTACT_MS);
  // A page that is left or reloaded is not hidden: the clock would not stop in an outage before the next contact.
  let leaving = false;
  addEventListener("pagehide", () => (leaving = true));
  addEventListener("pageshow", () => (leaving = false));
  document.addEventListener("visibilitychange", () => {
    if (!leaving) void contact();
  });
}

/** Formats a time that is left. In the last five minutes it shows seconds. @param {number} ms */
export function timeText(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds > 300) return `${Math.ceil(seconds / 60)} min`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A time that runs down, corrected by every response of the server. */
export class Countdown {
  #show;
  #left = 0;
  #at = 0;
  #stopped = true;

  /** @param {(ms: number) => void} show shows the time that is left */
  constructor(show) {
    this.#show = show;
    setInterval(() => this.tick(), 1000);
  }

  /** @param {number} ms @param {boolean} stopped */
  set(ms, stopped) {
    [this.#left, this.#at, this.#stopped] = [ms, performance.now(), stopped];
    this.tick();
  }

  tick() {
    this.#show(this.#stopped ? this.#left : this.#left - (performance.now() - this.#at));
  }
}

/** Deletes everything that the page has stored in the browser, for the next person at this machine. */
export function wipeStorage() {
  try {
    localStorage.clear();
    sessionStorage.clear();
  } catch {
    // Without storage there is nothing to delete.
  }
}
