/**
 * How one of several cells leaves its clients to the others when it stops: for a moment it goes on serving those who are connected,
 * and closes each connection behind its answer, so that they connect anew, elsewhere.
 */
import type { OpenRequests } from "../../edge/open-requests.ts";

const LOOK_MS = 20;
/**
 * A cell is quiet once so many looks in a row have seen no open request and no new one: requests that were on their way when the
 * cell was told to stop have arrived by then. The cell counts looks and no time, because a process that stood still has not yet read
 * what arrived meanwhile.
 */
const QUIET_LOOKS = 12;

interface Clients {
  /** Whether no client is connected. */
  isEmpty(): boolean;
  readonly withinMs: number;
  /**
   * Resolves when no other cell will take the calls; until then a cell that shares its port waits for its clients to go. Undefined:
   * clients come by way of a proxy, which connects to another cell by itself.
   */
  readonly hurry: Promise<void> | undefined;
}

export class Departure implements OpenRequests {
  #hasBegun = false;
  #begun = 0;
  #open = 0;

  begin(): void {
    this.#hasBegun = true;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  requestBegan(): boolean {
    this.#begun++;
    this.#open++;
    return this.#hasBegun;
  }

  requestEnded(): void {
    this.#open--;
  }

  /** Resolves once no client is connected, or `hurry` does, or no request comes any more (see `Clients.hurry`), or `withinMs` later. */
  async wait({ isEmpty, withinMs, hurry }: Clients): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const timer = setTimeout(end, withinMs);
    void hurry?.then(end);
    let [seen, quiet] = [this.#begun, 0];
    while (!isOver && !isEmpty() && (hurry !== undefined || quiet < QUIET_LOOKS)) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      quiet = this.#open === 0 && this.#begun === seen ? quiet + 1 : 0;
      seen = this.#begun;
    }
    clearTimeout(timer);
  }
}
