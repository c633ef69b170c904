/**
 * The simulated payment service, started when a payment first needs it, and at each start after that: the addresses of its pages are
 * in people's browsers.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { PaymentSimulator } from "../../../simulator/payments/payment-simulator.ts";
import type { Clock } from "../../base/clock.ts";
import { Once } from "../../base/once.ts";
import type { PaymentsAddress } from "../../cluster/supervisor/services.ts";
import type { Config } from "../settings/config.ts";

interface PaymentsGround {
  readonly clock: Clock;
  readonly log: Logger;
  /** Called when it is up: `running` is set, and no webhook was sent yet. */
  readonly onUp: () => void;
  readonly onListening: (port: number) => void;
}

export class BuiltInPayments {
  readonly #file: string;
  readonly #host: string;
  readonly #ground: PaymentsGround;
  #port = 0;
  readonly #started = new Once(() => this.#start());
  #running: PaymentsAddress | undefined;

  constructor({ dataDir, host }: Pick<Config, "dataDir" | "host">, ground: PaymentsGround) {
    this.#file = join(dataDir, "simulator", "payments.jsonl");
    this.#host = host;
    this.#ground = ground;
  }

  /** Undefined until it is up. */
  get running(): PaymentsAddress | undefined {
    return this.#running;
  }

  /** The gateway's port: webhooks go there. A service that is still used and was before the last stop is started now. */
  listensAt(port: number, isUsed: boolean): void {
    this.#port = port;
    if (!isUsed || !existsSync(this.#file)) return;
    this.address().catch((err: unknown) =>
      this.#ground.log.error({ err }, "the simulated payment service did not start"),
    );
  }

  async address(): Promise<PaymentsAddress> {
    return addressOf(await this.#started.get());
  }

  async #start(): Promise<PaymentSimulator> {
    // Loaded here: most processes never need it.
    const { startPaymentSimulator } = await import("../../../simulator/payments/payment-simulator.ts");
    const { clock, onListening, onUp } = this.#ground;
    const simulator = await startPaymentSimulator({ clock, file: this.#file, onListening });
    this.#running = addressOf(simulator);
    onUp();
    const host = this.#host.includes(":") ? "[::1]" : "127.0.0.1";
    const url = `http://${host}:${this.#port}/webhooks/payments/simulated`;
    simulator.hook("simulated", { url, secret: simulator.webhookSecret });
    return simulator;
  }

  async close(): Promise<void> {
    await (await this.#started.made?.catch(() => undefined))?.close();
  }
}

const addressOf = ({ url, keys, webhookSecret }: PaymentSimulator): PaymentsAddress => ({
  url,
  key: keys.simulatedKey,
  webhookSecret,
});
