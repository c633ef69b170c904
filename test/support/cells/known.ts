/** Answers of cells that may not know in time what others did. */
import { callsBy, type TestCalls, type TestGateway } from "../gateway.ts";
import { Hopeless, until } from "../wait.ts";

/**
 * What a call is answered once a cell knows: one that is late with Redis, or stood still, answers 503 and does nothing, and is asked
 * again. A call that fails otherwise, such as by a cut connection, may have been charged, so that it fails here, too.
 * @param ask asks the same cell each time, by `inTurn`: the next one could hide that this one is always wrong
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

/** Gives each request to the next cell, as a balancer does. @returns the calls of that cell, by which it can be asked again */
export function inTurn(gateway: TestGateway): () => TestCalls {
  const cells = (gateway.cellUrls ?? []).map((url) => callsBy(gateway, url, gateway.simulator));
  let turn = 0;
  return () => cells[turn++ % cells.length] as TestCalls;
}
