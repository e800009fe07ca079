// @ts-check
/** A play as it goes on: what happened so far as a film, and then every command as it comes. */

import { Reel, bytesOf } from "./reel.js";
import { RhaePlayer } from "./player.js";

const player = /** @type {RhaePlayer} */ (document.querySelector("rhae-player"));
const live = /** @type {HTMLElement} */ (document.querySelector("[data-show=live]"));
const guid = player.dataset.guid ?? "";

/** @param {string} text @param {boolean} [on] */
function tell(text, on = false) {
  if (live.textContent !== text) live.textContent = text;
  live.classList.toggle("on", on);
}

/** @param {string} path */
async function get(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error((await response.json()).message ?? response.statusText);
  return response;
}

try {
  const response = await get(`/replay/${guid}/film`);
  let next = Number(response.headers.get("X-Rhae-Entries"));
  const about = {
    title: player.dataset.game ?? "",
    subtitle: "live",
    framesPerSecond: Number(player.dataset.speed),
    winLevels: Number(player.dataset.levels),
    reasoning: async (/** @type {number} */ moment) => {
      const said = await (await get(`/replay/${guid}/reasoning?from=${moment}`)).json();
      return new Map(said.said).get(moment);
    },
  };
  player.open(new Reel(new Uint8Array(await response.arrayBuffer())), about, true);
  const follow = () => {
    const source = new EventSource(`/watch/${guid}/events?from=${next}`);
    source.addEventListener("open", () => tell("live", true));
    source.addEventListener("action", (event) => {
      const { index, packed, whole } = JSON.parse(event.data);
      // After a break the browser asks for what came after the last event; what it has is not added twice.
      if (index !== next) return;
      next = index + 1;
      player.extend(bytesOf(packed), whole);
    });
    for (const [name, text] of [["end", "ended"], ["frozen", "stopped: its log does not replay"]]) {
      source.addEventListener(name, () => {
        source.close();
        player.end();
        tell(text);
      });
    }
    source.addEventListener("error", () => {
      tell("connection lost, trying again…");
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(follow, 2000);
    });
  };
  follow();
} catch (reason) {
  tell("");
  player.fail(`This play cannot be followed: ${reason instanceof Error ? reason.message : reason}`);
}
