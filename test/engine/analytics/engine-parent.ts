/** Starts an engine and waits to be killed. */
import { startEngine } from "../../../src/analytics/engine/engine.ts";
import { LIMIT_MS } from "../../support/wait.ts";

const engine = startEngine(process.argv[2] ?? "", { warn: () => {} });
await engine.address(LIMIT_MS);
process.send?.(engine.pid());
process.on("message", () => {});
