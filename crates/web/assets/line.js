// @ts-check
/**
 * The line to the server: one command after the other, each sent until it is answered.
 *
 * A command has an idempotency key, by which the server knows it when it comes again; so a lost connection loses nothing and plays nothing
 * twice. The command under way is kept in the browser, so that a page that is loaded again finishes it first.
 */

const COMPACT = "application/vnd.rhae.compact+json";
const PATIENCE_MS = 20000;
const PAUSES_MS = [250, 500, 1000, 2000, 4000];
const PENDING = "rhae-pending:";

/**
 * @typedef {{path: string, body: string, key: string}} Order
 * @typedef {{status: number, data: any}} Answer
 */

/** Sixteen random bytes as text. */
export function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Line {
  #name;
  #onLost;
  #lost = false;

  /** @param {string} name what is played @param {(lost: boolean) => void} onLost */
  constructor(name, onLost) {
    this.#name = PENDING + name;
    this.#onLost = onLost;
  }

  /** Whether it is interrupted now. */
  get lost() {
    return this.#lost;
  }

  /** The command that a page before this one did not see answered. @returns {Order | null} */
  pending() {
    try {
      return JSON.parse(localStorage.getItem(this.#name) ?? "null");
    } catch {
      return null;
    }
  }

  /**
   * Sends a command until it is answered.
   * @param {string} path @param {object} body
   */
  async command(path, body) {
    return this.finish({ path, body: JSON.stringify(body), key: randomKey() });
  }

  /** @param {Order} order */
  async finish(order) {
    this.#keep(JSON.stringify(order));
    const answer = await this.ask(order.path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: COMPACT, "Idempotency-Key": order.key },
      body: order.body,
    });
    this.#keep(null);
    return answer;
  }

  /**
   * Asks until there is an answer that means something: what is too much, or cannot be done now, is asked again later.
   * @param {string} path @param {RequestInit} [request] @returns {Promise<Answer>}
   */
  async ask(path, request = {}) {
    for (let attempt = 0; ; attempt++) {
      let pause = PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)];
      try {
        const response = await fetch(path, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS), ...request });
        if (response.status !== 429 && response.status < 500) {
          const data = response.status === 204 ? null : await response.json();
          this.#show(false);
          return { status: response.status, data };
        }
        pause = Math.max(pause, 1000 * Number(response.headers.get("Retry-After") ?? 0));
      } catch {
        // No answer, or half of one: nobody knows whether it arrived, and the key makes that no matter.
      }
      this.#show(true);
      await this.#pause(pause);
    }
  }

  /** Waits, but not longer than until the browser says that it is connected again. @param {number} ms */
  #pause(ms) {
    return new Promise((done) => {
      const go = () => {
        clearTimeout(timer);
        removeEventListener("online", go);
        done(undefined);
      };
      const timer = setTimeout(go, ms);
      addEventListener("online", go);
    });
  }

  /** @param {boolean} lost */
  #show(lost) {
    if (lost === this.#lost) return;
    this.#lost = lost;
    this.#onLost(lost);
  }

  /** @param {string | null} order */
  #keep(order) {
    try {
      if (order === null) localStorage.removeItem(this.#name);
      else localStorage.setItem(this.#name, order);
    } catch {
      // Without storage a page that is loaded again shows what the server has.
    }
  }
}
