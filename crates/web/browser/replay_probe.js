
// The script of a test. `Reel`, `bytesOf`, `PALETTE` and `SIZE` belong to the player.
const probed = document.querySelector("rhae-player");

function write(id, text) {
  const element = document.createElement("pre");
  element.id = id;
  element.textContent = text;
  document.body.append(element);
}

function decoded(moments, reel) {
  const lines = moments.map((moment) => {
    let hash = 0x811c9dc5;
    for (let frame = moment.first; frame < moment.first + moment.count; frame++) {
      for (const cell of reel.frame(frame)) hash = Math.imul(hash ^ cell, 0x01000193);
    }
    const { action, x, y, state, levels, changed, counted, fullReset, count } = moment;
    const sum = (hash >>> 0).toString(16).padStart(8, "0");
    return `${[action, x, y, state, levels, changed, counted, fullReset, count, sum].join(" ")}\n`;
  });
  return lines.join("");
}

/**
 * Compares the middle pixel of every cell of the settled frames with its colour. Clicks are skipped,
 * because the ring around a click hides cells.
 */
function drawn(moments, reel) {
  const canvas = probed.shadowRoot.querySelector("rhae-board").shadowRoot.querySelector("canvas");
  const zoom = canvas.width / SIZE;
  for (let at = moments.length - 1; at >= 0; at -= 5) {
    if (moments[at].x >= 0) continue;
    probed.seek(at);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const cells = reel.frame(moments[at].first + moments[at].count - 1);
    for (let cell = 0; cell < cells.length; cell++) {
      const [x, y] = [cell % SIZE, Math.floor(cell / SIZE)].map((index) => Math.floor((index + 0.5) * zoom));
      const first = 4 * (y * canvas.width + x);
      const color = `#${[...pixels.subarray(first, first + 3)].map((part) => part.toString(16).padStart(2, "0")).join("")}`.toUpperCase();
      if (color !== PALETTE[cells[cell]]) return `moment ${at}, cell ${cell}: ${color} instead of ${PALETTE[cells[cell]]}`;
    }
  }
  return "as decoded";
}

probed.addEventListener(
  "rhae-moment",
  () => {
    const reel = new Reel(bytesOf(JSON.parse(probed.querySelector("script").textContent).packed));
    write("decoded", decoded(probed.moments, reel));
    write("drawn", drawn(probed.moments, reel));
  },
  { once: true },
);
