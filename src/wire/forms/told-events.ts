/** The events by which a whole answer is said again, as text: bounded in their number, since each costs more than its bytes. */
import { fail } from "../../base/errors.ts";

/** The largest answer has some thousands in pieces of 8 KB; more parts than this no model makes. */
const MAX_EVENTS = 20_000;

export class ToldEvents {
  /** All events so far, latin1. */
  text = "";
  #count = 0;

  /** @throws WeirError `upstream_invalid_response` where there are too many */
  add(event: string): void {
    this.#count++;
    if (this.#count > MAX_EVENTS) {
      throw fail("upstream_invalid_response", "The provider's answer has more parts than the gateway takes.");
    }
    this.text += event;
  }
}
