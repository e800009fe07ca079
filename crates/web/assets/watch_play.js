// @ts-check
/** Follows a play live: loads its packed history, then appends each command as it arrives. */

import { Reel, bytesOf } from "./reel.js";
import { RhaePlayer } from "./player.js";

const player = /** @type {RhaePlayer} */ (document.querySelector("rhae-player"));
const live = /** @type {HTMLElement} */ (document.querySelector("[data-show=live]"));
const guid = player.dataset.guid ?? "";

/** @param {string} text @param {boolean} [on] */
function setStatus(text, on = false) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("on", on);
}

/** @param {string} path */
async function fetchOk(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.json()).message ?? response.statusText);
  return response;
}

try {
  const response = await fetchOk(`/replay/${guid}/film`);
  let next = Number(response.headers.get("X-Rhae-Entries"));
  const about = {
    title: player.dataset.game ?? "",
    subtitle: "live",
    framesPerSecond: Number(player.dataset.speed),
    winLevels: Number(player.dataset.levels),
    reasoning: async (/** @type {number} */ moment) => {
      const said = await (await fetchOk(`/replay/${guid}/reasoning?from=${moment}`)).json();
      return new Map(said.said).get(moment);
    },
  };
  player.open(new Reel(new Uint8Array(await response.arrayBuffer())), about, true);
  const follow = () => {
    const source = new EventSource(`/watch/${guid}/events?from=${next}`);
    source.addEventListener("open", () => setStatus("live", true));
    source.addEventListener("action", (event) => {
      const { index, packed, whole } = JSON.parse(event.data);
      // After a reconnect some events may arrive again; they must not be added twice.
      if (index !== next) return;
      next = index + 1;
      player.extend(bytesOf(packed), whole);
    });
    for (const [name, text] of [["end", "ended"], ["frozen", "stopped: the log does not replay"]]) {
      source.addEventListener(name, () => {
        source.close();
        player.end();
        setStatus(text);
      });
    }
    source.addEventListener("error", () => {
      setStatus("connection lost, reconnecting…");
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(follow, 2000);
    });
  };
  follow();
} catch (reason) {
  setStatus("");
  player.fail(`This play cannot be followed: ${reason instanceof Error ? reason.message : reason}`);
}
