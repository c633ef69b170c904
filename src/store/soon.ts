/** Work that is done once, a while after it was first asked for. While nobody asks there is no timer: an idle process sleeps. */
export class Soon {
  readonly #delayMs: number;
  readonly #act: () => void;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(delayMs: number, act: () => void) {
    this.#delayMs = delayMs;
    this.#act = act;
  }

  /** Does nothing where it was asked for already, or after `stop`. */
  ask(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#act();
    }, this.#delayMs).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
