/** For a process that kills itself: at one of its steps, which are before and behind each act of its store, and others of its own. */
import type { Store } from "../../../src/store/store.ts";
import { storeWithActs } from "./acts.ts";

export interface Steps {
  /** One more: it is the last, if it is the one that was asked for. */
  at(): void;
  around(store: Store): Store;
}

/** @param last the number of the step at which the process kills itself; never, where it is 0 */
export function killedAt(last: number): Steps {
  let steps = 0;
  const at = (): void => {
    if (++steps === last) process.kill(process.pid, "SIGKILL");
  };
  return {
    at,
    around: (store) =>
      storeWithActs(store, async (act) => {
        at();
        const value = await act();
        at();
        return value;
      }),
  };
}
