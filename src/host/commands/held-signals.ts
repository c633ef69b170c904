/** Signals that come while the process warms up: they end it early, and are heard again once the gateway can stop. */

const HELD = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

export class HeldSignals {
  readonly #ended = new AbortController();
  readonly #held = new Set<NodeJS.Signals>();
  readonly #hold = (signal: NodeJS.Signals): void => {
    this.#held.add(signal);
    this.#ended.abort();
  };

  /** Aborted by the first of them. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  begin(): void {
    for (const name of HELD) process.on(name, this.#hold);
  }

  /** Sends this process what was held; others listen to signals by now. */
  release(): void {
    for (const name of HELD) process.off(name, this.#hold);
    for (const name of this.#held) process.kill(process.pid, name);
    this.#held.clear();
  }
}
