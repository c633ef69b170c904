/**
 * The simulated payment services as a process: `node simulator/payments/main.ts --port 9997 --file state.jsonl
 * --hook simulated=http://127.0.0.1:8787/webhooks/payments/simulated`. Prints one line of JSON with address, keys and the
 * secret of webhooks; SIGTERM or SIGINT ends it with exit code 0.
 */
import { parseArgs } from "node:util";
import { systemClock } from "../../src/base/clock.ts";
import { type PaymentSimulator, startPaymentSimulator } from "./payment-simulator.ts";
import type { House } from "./state.ts";

const { values } = parseArgs({
  options: {
    port: { type: "string" },
    file: { type: "string" },
    /** `<service>=<url>`, and `<service>=<url>#<secret>` for a secret of its own. */
    hook: { type: "string", multiple: true, default: [] },
  },
});

function addHook(simulator: PaymentSimulator, text: string): void {
  const [, house, url, secret] = /^(stripe|razorpay|simulated)=([^#]+)(?:#(.+))?$/.exec(text) ?? [];
  if (house === undefined || url === undefined) throw new Error(`--hook takes <service>=<url>, not ${text}.`);
  simulator.hook(house as House, { url, secret: secret ?? simulator.webhookSecret });
}

try {
  const simulator = await startPaymentSimulator({
    clock: systemClock,
    ...(values.port !== undefined && { port: Number(values.port) }),
    ...(values.file !== undefined && { file: values.file }),
  });
  for (const hook of values.hook) addHook(simulator, hook);
  const { url, keys, webhookSecret } = simulator;
  console.log(JSON.stringify({ url, keys, webhookSecret }));
  const stop = () => void simulator.close();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : String(thrown));
  process.exitCode = 1;
}
