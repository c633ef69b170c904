/**
 * How one of several cells leaves its clients to the others when it stops: for a moment it goes on serving those who are connected,
 * and closes each connection behind its answer, so that they connect anew, elsewhere.
 */

const LOOK_MS = 20;
/**
 * Looks in a row without a request after which those that were on their way when the cell was told to stop are here. Looks are
 * counted, not time: a process that stood still has not read yet what came meanwhile.
 */
const QUIET_LOOKS = 12;

interface Clients {
  /** Whether no client is connected. */
  isEmpty(): boolean;
  readonly withinMs: number;
  /** Resolves when nobody else will take the calls. Undefined: clients come by a proxy, which asks others by itself, and soon. */
  readonly hurry: Promise<void> | undefined;
}

export class Leaving {
  #hasBegun = false;
  #requests = 0;

  begin(): void {
    this.#hasBegun = true;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Told of each request. @returns whether its connection is to be closed behind the answer */
  asked(): boolean {
    this.#requests++;
    return this.#hasBegun;
  }

  /** Resolves once nobody is connected, or `withinMs` later, or when nobody waits for it: see `Clients.hurry`. */
  async ended({ isEmpty, withinMs, hurry }: Clients): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const timer = setTimeout(end, withinMs);
    void hurry?.then(end);
    let [seen, quiet] = [this.#requests, 0];
    while (!isOver && !isEmpty() && (hurry !== undefined || quiet < QUIET_LOOKS)) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      quiet = this.#requests === seen ? quiet + 1 : 0;
      seen = this.#requests;
    }
    clearTimeout(timer);
  }
}
