// The names of a game for the code of a model. `host` calls functions of the agent.
"use strict";

globalThis.env = Object.freeze({
  step: (action, row, column) => host("step", action, row, column),
  frame: () => host("frame"),
  actions: () => host("actions"),
  history: (count) => host("history", count),
  frameAt: (step) => host("frameAt", step),
});

globalThis.segment = (frame) => host("segment", frame);

globalThis.diff = (before, after) => {
  const cells = [];
  for (let row = 0; row < before.length; row += 1) {
    for (let column = 0; column < before[row].length; column += 1) {
      if (before[row][column] !== after[row][column]) {
        cells.push([row, column, before[row][column], after[row][column]]);
      }
    }
  }
  return cells;
};

globalThis.bfs = ({ start, actions, step, isGoal, key = JSON.stringify, maxNodes = 100000 }) => {
  const nodes = [{ state: start, from: -1, action: null }];
  const seen = new Set([key(start)]);
  for (let at = 0; at < nodes.length && at < maxNodes; at += 1) {
    if (isGoal(nodes[at].state)) {
      const path = [];
      for (let node = nodes[at]; node.from >= 0; node = nodes[node.from]) {
        path.push(node.action);
      }
      return path.reverse();
    }
    for (const action of actions) {
      const state = step(nodes[at].state, action);
      const name = state === null || state === undefined ? undefined : key(state);
      if (name !== undefined && !seen.has(name)) {
        seen.add(name);
        nodes.push({ state, from: at, action });
      }
    }
  }
  return null;
};
