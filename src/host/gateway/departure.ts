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
  /** Whether a model call runs, also one whose client has left. */
  isCalling(): boolean;
  /** For all of it. */
  readonly withinMs: number;
  /**
   * How long it waits, behind the last call and request, for clients that are connected and send nothing. A stream that began before
   * has not told its client to connect anew: that is told with the answer to the next request over its connection.
   */
  readonly idleMs: number;
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
  #sending = 0;

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

  sending(change: 1 | -1): void {
    this.#sending += change;
  }

  /** Resolves once no client is connected, or none sends anything any more (see `Clients`), or `hurry` does, or `withinMs` later. */
  async wait({ isEmpty, isCalling, withinMs, idleMs, hurry }: Clients): Promise<void> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    const timer = setTimeout(end, withinMs);
    void hurry?.then(end);
    let [seen, quiet, idle] = [this.#begun, 0, 0];
    while (!isOver && !isEmpty() && idle * LOOK_MS < idleMs && (hurry !== undefined || quiet < QUIET_LOOKS)) {
      await look();
      const isNew = this.#begun !== seen;
      quiet = isNew || this.#isAnswering() ? 0 : quiet + 1;
      idle = isNew || this.#isAnswering() || isCalling() ? 0 : idle + 1;
      seen = this.#begun;
    }
    clearTimeout(timer);
  }

  /** Resolves once all requests are answered and clients have taken their answers, or `withinMs` later. */
  async sent(withinMs: number): Promise<void> {
    for (let looks = 0; this.#isAnswering() && looks * LOOK_MS < withinMs; looks++) await look();
  }

  #isAnswering(): boolean {
    return this.#open + this.#sending > 0;
  }
}

const look = () => new Promise((resolve) => setTimeout(resolve, LOOK_MS));
