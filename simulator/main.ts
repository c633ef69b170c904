/**
 * The simulator as a process: `node simulator/main.ts --port 9999 [--host 127.0.0.1]`. Prints one line with its address
 * when it is ready; SIGTERM or SIGINT ends it with exit code 0.
 */
import { parseArgs } from "node:util";
import { startSimulator } from "./simulator.ts";

function readArguments(): { port: number; host: string } {
  const { values } = parseArgs({
    options: { port: { type: "string", default: "9999" }, host: { type: "string", default: "127.0.0.1" } },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error("--port takes a number from 0 to 65535.");
  return { port, host: values.host };
}

try {
  const simulator = await startSimulator({ ...readArguments(), keepBodyBytes: 0 });
  console.log(`Simulated provider at ${simulator.url}/v1`);
  const stop = () => void simulator.close();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : String(thrown));
  process.exitCode = 1;
}
