/** Answers of cells that may not know in time what others did. */
import { Hopeless, until } from "../wait.ts";

/**
 * What a call is answered once a cell knows: one that is late with Redis, or stood still, answers 503 and does nothing, and is asked
 * again. A call that fails otherwise, such as by a cut connection, may have been charged, so that it fails here, too.
 */
export const known = <A extends { readonly status: number }>(ask: () => Promise<A>): Promise<A> =>
  until(
    "a cell knows what to answer",
    () =>
      ask().catch((error) => {
        throw new Hopeless("the call failed", { cause: error });
      }),
    ({ status }) => status !== 503,
  );
