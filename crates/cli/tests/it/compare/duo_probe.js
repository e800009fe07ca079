// The script of a test. It runs in the module of the page.
const details = document.querySelector("details.duo");
details.open = true;
details.scrollIntoView();
const duo = document.querySelector("rhae-duo");

const poll = setInterval(() => {
  const [left, right] = duo.players;
  if (!left?.moments.length || !right?.moments.length) return;
  clearInterval(poll);
  const at = () => `${left.moment} ${right.moment}`;
  let lines = `start ${at()}\n`;
  duo.show(1, 5);
  lines += `level 1, action 5: ${at()}\n`;
  left.seek(7);
  lines += `left moved: ${at()}\n`;
  right.seek(3);
  lines += `right moved: ${at()}\n`;
  duo.show(1, 100000);
  const completed = left.moments[left.moment].levels === 1 ? "left has completed it" : "left has not completed it";
  const end = right.moments.findLastIndex((moment) => moment.levels === 0) === right.moment;
  lines += `last action of level 1: ${completed}, ${end ? "right stays at its end" : "right is elsewhere"}\n`;
  const together = duo.querySelector("input[type=checkbox]");
  duo.show(1, 2);
  together.checked = false;
  left.seek(9);
  lines += `apart: ${at()}\n`;
  together.checked = true;
  const slider = duo.querySelector("input[type=range]");
  slider.value = "5";
  slider.dispatchEvent(new Event("input"));
  lines += `slider 5: ${at()}\n`;
  const element = document.createElement("pre");
  element.id = "duo";
  element.textContent = lines;
  document.body.append(element);
}, 20);
