// @ts-check
/**
 * The connection to the server: sends commands, and retries each command until the server responds.
 *
 * Each command has an idempotency key, by which the server recognises a retry. When the connection is lost, a command is therefore
 * neither lost nor executed twice. The pending command is stored in the browser, so that a reloaded page completes it first.
 */

const COMPACT = "application/vnd.rhae.compact+json";
const TIMEOUT_MS = 20000;
const RETRY_DELAYS_MS = [250, 500, 1000, 2000, 4000];
const STORAGE_PREFIX = "rhae-pending:";

/**
 * @typedef {{path: string, body: string, key: string}} PendingCommand
 * @typedef {{status: number, data: any}} Result
 */

/** Sixteen random bytes as hexadecimal digits. */
export function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export class Connection {
  #storageKey;
  #onLost;
  #headers;
  #lost = false;

  /**
   * @param {string} name the environment @param {(lost: boolean) => void} onLost called when the connection is lost or restored
   * @param {Record<string, string>} [headers] headers of every request
   */
  constructor(name, onLost, headers = {}) {
    this.#storageKey = STORAGE_PREFIX + name;
    this.#onLost = onLost;
    this.#headers = headers;
  }

  /** Whether the connection is lost at the moment. */
  get lost() {
    return this.#lost;
  }

  /** The command to which an earlier page did not receive a response. @returns {PendingCommand | null} */
  pending() {
    try {
      return JSON.parse(localStorage.getItem(this.#storageKey) ?? "null");
    } catch {
      return null;
    }
  }

  /**
   * Sends a command, and retries it until the server responds.
   * @param {string} path @param {object} body
   */
  async command(path, body) {
    return this.finish({ path, body: JSON.stringify(body), key: randomKey() });
  }

  /** @param {PendingCommand} pending */
  async finish(pending) {
    this.#store(JSON.stringify(pending));
    const answer = await this.request(pending.path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: COMPACT, "Idempotency-Key": pending.key },
      body: pending.body,
    });
    this.#store(null);
    return answer;
  }

  /**
   * Sends a request until it gets a conclusive response. After a 429, a 5xx or a network error, it waits and retries.
   * @param {string} path @param {RequestInit} [init] @returns {Promise<Result>}
   */
  async request(path, init = {}) {
    const headers = { ...this.#headers, ...init.headers };
    for (let attempt = 0; ; attempt++) {
      let pause = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)];
      try {
        const response = await fetch(path, { credentials: "same-origin", cache: "no-store", signal: AbortSignal.timeout(TIMEOUT_MS), ...init, headers });
        if (response.status !== 429 && response.status < 500) {
          const data = response.status === 204 ? null : await response.json();
          this.#setLost(false);
          return { status: response.status, data };
        }
        pause = Math.max(pause, 1000 * Number(response.headers.get("Retry-After") ?? 0));
      } catch {
        // The request may or may not have arrived. The idempotency key makes the retry safe.
      }
      this.#setLost(true);
      await this.#delay(pause);
    }
  }

  /** Waits for the delay, or until the browser is online again if that is sooner. @param {number} ms */
  #delay(ms) {
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
  #setLost(lost) {
    if (lost === this.#lost) return;
    this.#lost = lost;
    this.#onLost(lost);
  }

  /** @param {string | null} pending */
  #store(pending) {
    try {
      if (pending === null) localStorage.removeItem(this.#storageKey);
      else localStorage.setItem(this.#storageKey, pending);
    } catch {
      // Without storage, a reloaded page does not complete the command; it only shows the state on the server.
    }
  }
}
