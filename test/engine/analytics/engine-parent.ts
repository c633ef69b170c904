/** Starts an engine and waits to be killed. */
import { startEngine } from "../../../src/analytics/engine.ts";

const engine = startEngine(process.argv[2] ?? "", { warn: () => {} });
await engine.address(20_000);
process.send?.(engine.pid());
process.on("message", () => {});
