/** How long a gateway in a process of its own was kept from everything else: see `event-loop.witness.ts`. */
import { join } from "node:path";
import { until } from "./gateway.ts";
import type { SpawnedGateway } from "./spawned-gateway.ts";

/** For the environment of the gateway. */
export const WITNESSED = {
  NODE_OPTIONS: `--import=${join(import.meta.dirname, "event-loop.witness.ts")}`,
};

/** Milliseconds of processor time that the longest turn of its event loop took since it was last asked. */
export async function longestTurn(gateway: SpawnedGateway): Promise<number> {
  const said = () => gateway.output().match(/longest turn: [\d.]+/g) ?? [];
  const before = said().length;
  gateway.process.kill("SIGUSR2");
  await until("the witness has spoken", () => said().length > before);
  return Number(said().at(-1)?.split(": ")[1]);
}
