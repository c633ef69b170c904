/** How long a gateway in a process of its own was kept from everything else: see `event-loop.witness.ts`. */
import { join } from "node:path";
import { onOrdinaryMachine } from "./processor-time.fixtures.ts";
import type { SpawnedGateway } from "./spawned-gateway.ts";

/** For the environment of the gateway. */
export const WITNESSED = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "event-loop.witness.ts")}`,
};

/**
 * Milliseconds of an ordinary machine's processor that the longest turn of its event loop took since it was last asked. It is asked
 * hundreds of times, so its output is listened to, not looked at now and then.
 */
export function longestTurn({ process: child }: SpawnedGateway): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    const heard = (data: Buffer) => {
      text += data.toString();
      const longestMs = /longest turn: ([\d.]+) ms\n/.exec(text)?.[1];
      if (longestMs === undefined) return;
      child.stdout?.off("data", heard);
      resolve(onOrdinaryMachine(Number(longestMs)));
    };
    child.stdout?.on("data", heard);
    child.once("exit", () => reject(new Error("the gateway ended before its witness spoke")));
    child.kill("SIGUSR2");
  });
}
