/**
 * The simulated payment service as a process that outlives the gateway: what is asked of its control API, and what it knows, as its
 * file says. Its webhooks follow the gateway from life to life.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ControlAct } from "../../../simulator/payments/control.ts";
import type { Collections } from "../../../simulator/payments/state.ts";
import { type Answer, removeFolder } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";

const MAIN = fileURLToPath(new URL("../../../simulator/payments/main.ts", import.meta.url));

export interface PaymentService {
  /** Variables of a gateway that is to use it. */
  readonly env: Readonly<Record<string, string>>;
  /** @returns what it changed */
  control(act: ControlAct): Promise<Answer["json"]>;
  /** Its webhooks go to this gateway from now on, those that it tries again too. */
  tell(gatewayUrl: string): Promise<void>;
  /** A button on one of its pages. @returns the path to which the payer is sent back; undefined where the page is over */
  click(page: string, act: "pay" | "fail"): Promise<string | undefined>;
  /** All that it knows of a kind. */
  all<C extends keyof Collections>(name: C): Collections[C][];
  close(): Promise<void>;
}

export async function startPaymentService(): Promise<PaymentService> {
  const folder = mkdtempSync(join(tmpdir(), "weir-payments-"));
  const file = join(folder, "state.jsonl");
  const child = spawn(process.execPath, [MAIN, "--port", "0", "--file", file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(createInterface(child.stdout), "line");
  const { url, keys, webhookSecret } = JSON.parse(line);
  const control: PaymentService["control"] = async (act) => {
    const answer = await httpCall("POST", `${url}/control`, { body: JSON.stringify(act) });
    if (answer?.status !== 200) throw new Error(`${act.act}: ${answer?.status} ${answer?.text}`);
    return JSON.parse(answer.text);
  };
  return {
    control,
    env: {
      PAYMENTS_SIMULATOR_URL: url,
      PAYMENTS_SIMULATOR_KEY: keys.simulatedKey,
      PAYMENTS_SIMULATOR_WEBHOOK_SECRET: webhookSecret,
    },
    async tell(gatewayUrl) {
      const hook = `${gatewayUrl}/webhooks/payments/simulated`;
      await control({ act: "hook", house: "simulated", url: hook, secret: webhookSecret });
    },
    async click(page, act) {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const answer = await httpCall("POST", page, { headers, body: `act=${act}` });
      const location = answer?.headers.get("location");
      return location ? new URL(location).pathname : undefined;
    },
    all: (name) => {
      const found = new Map<string, Collections[typeof name]>();
      for (const text of readFileSync(file, "utf8").split("\n")) {
        if (text === "") continue;
        const { c, v } = JSON.parse(text);
        if (c === name) found.set(v.id, v);
      }
      return [...found.values()];
    },
    async close() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      removeFolder(folder);
    },
  };
}
