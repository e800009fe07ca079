// The functions that the code of a model can call, and those with which the engine executes it.
//
// The value of this script is a function. `hostCall(text)` calls a function of the agent, and
// `write(text)` adds to the output. Everything that the functions below use is captured before the
// first code of a model runs, so that it can change built-in objects only for itself.
(function (hostCall, write) {
  "use strict";
  const { stringify, parse } = JSON;
  const { apply, ownKeys } = Reflect;
  const { create, defineProperty, freeze, hasOwn } = Object;
  const { Error, Promise, String, TypeError } = globalThis;
  const AsyncFunction = (async function () {}).constructor;
  // What code that does not return returns.
  const nothing = freeze(create(null));

  // The execution in progress, and the calls of `rlm` that wait for an answer.
  let execution = null;
  let waiting = newList();

  function newList() {
    const list = create(null);
    list.length = 0;
    return list;
  }

  // A value that has no JSON form has no text.
  function textOf(value) {
    if (typeof value === "string") {
      return value;
    }
    try {
      const text = typeof value === "function" ? undefined : stringify(value);
      return text === undefined ? String(value) : text;
    } catch {
      return "[a value without a text]";
    }
  }

  function describe(error) {
    try {
      if (!(error instanceof Error)) {
        return `Uncaught ${textOf(error)}`;
      }
      const text = `${error.name}: ${error.message}`;
      const stack = typeof error.stack === "string" ? error.stack : "";
      return stack === "" ? text : `${text}\n${stack}`;
    } catch {
      return "an error without a text";
    }
  }

  function print(...values) {
    let line = "";
    for (let index = 0; index < values.length; index += 1) {
      line += (index === 0 ? "" : " ") + textOf(values[index]);
    }
    write(line + "\n");
  }

  function host(name, ...args) {
    const answer = parse(hostCall(stringify([String(name), args])));
    if (hasOwn(answer, "raise")) {
      throw new Error(answer.raise);
    }
    return answer.value;
  }

  function rlm(query, context) {
    if (typeof query !== "string" || query === "") {
      throw new TypeError("rlm(query, context): the query must be a string");
    }
    const call = create(null);
    call.text = stringify([query, context === undefined ? null : context]);
    const promise = new Promise(function (resolve, reject) {
      call.resolve = resolve;
      call.reject = reject;
    });
    waiting[waiting.length] = call;
    waiting.length += 1;
    return promise;
  }

  async function run(body, mine) {
    try {
      const value = await apply(body, globalThis, [nothing]);
      if (value !== nothing) {
        const text = stringify(value);
        if (text === undefined) {
          throw new TypeError("return(value): the value must have a JSON form");
        }
        mine.returned = text;
      }
    } catch (error) {
      mine.error = describe(error);
    }
    mine.settled = true;
  }

  // Starts the execution of a function body.
  function start(source) {
    const mine = create(null);
    mine.settled = false;
    execution = mine;
    waiting = newList();
    let body;
    try {
      body = new AsyncFunction("__nothing", source);
    } catch (error) {
      mine.error = describe(error);
      mine.settled = true;
      return;
    }
    run(body, mine);
  }

  // Returns the state of the execution as JSON: it has settled, it waits for calls, or it waits for
  // something that never happens.
  function status() {
    if (execution.settled && waiting.length > 0) {
      const count = waiting.length;
      waiting = newList();
      const problem = `rlm() was called without \`await\`: ${count} calls were not sent, and a value that was returned is ignored`;
      const error = hasOwn(execution, "error") ? `${execution.error}\n${problem}` : problem;
      return stringify({ __proto__: null, settled: true, error });
    }
    if (execution.settled) {
      return stringify(execution);
    }
    let calls = "";
    for (let index = 0; index < waiting.length; index += 1) {
      calls += (index === 0 ? "" : ",") + waiting[index].text;
    }
    return `{"settled":false,"calls":[${calls}]}`;
  }

  // Gives the calls their answers: [true, VALUE] or [false, TEXT] for each.
  function resume(text) {
    const answers = parse(text);
    const calls = waiting;
    waiting = newList();
    for (let index = 0; index < calls.length; index += 1) {
      const [isValue, answer] = answers[index];
      if (isValue) {
        calls[index].resolve(answer);
      } else {
        calls[index].reject(new Error(answer));
      }
    }
  }

  // Sets global variables.
  function update(text) {
    const values = parse(text);
    if (values === null || typeof values !== "object") {
      return;
    }
    const names = ownKeys(values);
    for (let index = 0; index < names.length; index += 1) {
      define(names[index], values[names[index]]);
    }
  }

  function define(name, value) {
    const property = { __proto__: null, value, writable: true, configurable: true };
    defineProperty(globalThis, name, property);
  }

  // A generator of Marsaglia's xorshift family: the same numbers in every process.
  let seed = 2463534242;
  defineProperty(Math, "random", {
    __proto__: null,
    value: function () {
      seed ^= seed << 13;
      seed ^= seed >>> 17;
      seed ^= seed << 5;
      return (seed >>> 0) / 4294967296;
    },
  });
  const clock = freeze({ __proto__: null, now: () => 0 });
  define("Date", clock);
  define("performance", clock);
  define("console", {
    log: print,
    info: print,
    debug: print,
    warn: print,
    error: print,
    table: print,
  });
  define("print", print);
  define("host", host);
  define("rlm", rlm);
  return { __proto__: null, start, status, resume, update };
});
