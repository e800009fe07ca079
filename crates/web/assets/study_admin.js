// @ts-check
/** The pages of researchers: sends their forms to the REST API, and keeps the list of open sittings current. */

import { Connection } from "./connection.js";
import { enableForms } from "./forms.js";

const REFRESH_MS = 5000;

const api = /** @type {HTMLElement} */ (document.querySelector("[data-api]")).dataset.api ?? "";
const part = (/** @type {string} */ name) => /** @type {HTMLElement | null} */ (document.querySelector(`[data-show=${name}]`));
const connection = new Connection("study", (lost) => showProblem(lost ? "Connection lost, reconnecting…" : ""));

/** @param {string} message */
function showProblem(message) {
  const problem = part("problem");
  if (!problem) return;
  problem.textContent = message;
  problem.hidden = message === "";
  if (message) problem.scrollIntoView({ block: "nearest" });
}

/** Sends a form: as a command of the study, or to the path of the form. @param {HTMLFormElement} form @param {Record<string, any>} fields */
async function submit(form, fields) {
  const { command, path, method = "POST", next, shows } = form.dataset;
  const body = method === "GET" ? undefined : JSON.stringify(command ? { command, ...fields } : fields);
  const headers = { "Content-Type": "application/json" };
  const answer = await connection.request(command ? `${api}/commands` : api + path, { method, headers, body });
  if (answer.status !== 200) return showProblem(answer.data?.message ?? "This did not work. Please reload the page.");
  showProblem("");
  if (shows === "links") showLinks(answer.data);
  else if (shows === "shared") showSharedLinks(answer.data);
  else if (next === "study") location.assign(`/studies/${answer.data.study}`);
  else location.reload();
}

/** Shows the links of new participants, which are shown only once. @param {{participant: string, path: string}[]} people */
function showLinks(people) {
  const list = document.createElement("ul");
  for (const { participant, path } of people) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = path;
    link.textContent = location.origin + path;
    item.append(`${participant}: `, link);
    list.append(item);
  }
  const note = document.createElement("p");
  note.textContent = "Copy these links now. They are shown only once.";
  part("links")?.replaceChildren(note, list);
}

/** Shows the links of sites and seats. @param {{arrivals: {site: string, path: string}[], seats: {site: string, seat: number, path: string}[]}} links */
function showSharedLinks({ arrivals, seats }) {
  const list = document.createElement("ul");
  const rows = [...arrivals.map(({ site, path }) => [site, path]), ...seats.map(({ site, seat, path }) => [`${site}, seat ${seat}`, path])];
  for (const [name, path] of rows) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = path;
    link.textContent = location.origin + path;
    item.append(`${name}: `, link);
    list.append(item);
  }
  part("shared")?.replaceChildren(list);
}

/** Shows the open sittings again, unless the researcher is changing one. */
async function refresh() {
  const place = part("live");
  if (!place || place.querySelector("details[open]")) return;
  try {
    const response = await fetch(location.href, { cache: "no-store" });
    if (!response.ok) return;
    const fresh = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-show=live]");
    if (fresh && fresh.innerHTML !== place.innerHTML) place.replaceChildren(...document.importNode(fresh, true).childNodes);
  } catch {
    // The next refresh tries again.
  }
}

enableForms(submit);
if (part("live")) setInterval(() => void refresh(), REFRESH_MS);
