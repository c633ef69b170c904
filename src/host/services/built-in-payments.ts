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

export class BuiltInPayments {
  readonly #file: string;
  readonly #host: string;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onUp: () => void;
  readonly #onListening: (port: number) => void;
  #port = 0;
  readonly #started = new Once(() => this.#start());
  #running: PaymentsAddress | undefined;

  /** @param onUp is called when it is up: `running` is set, and no webhook was sent yet */
  constructor(
    { dataDir, host }: Pick<Config, "dataDir" | "host">,
    {
      clock,
      log,
      onUp,
      onListening,
    }: { clock: Clock; log: Logger; onUp: () => void; onListening: (port: number) => void },
  ) {
    this.#file = join(dataDir, "simulator", "payments.jsonl");
    this.#host = host;
    this.#clock = clock;
    this.#log = log;
    this.#onUp = onUp;
    this.#onListening = onListening;
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
      this.#log.error({ err }, "the simulated payment service did not start"),
    );
  }

  async address(): Promise<PaymentsAddress> {
    return addressOf(await this.#started.get());
  }

  async #start(): Promise<PaymentSimulator> {
    // Loaded here: most processes never need it.
    const { startPaymentSimulator } = await import("../../../simulator/payments/payment-simulator.ts");
    const simulator = await startPaymentSimulator({
      clock: this.#clock,
      file: this.#file,
      onListening: this.#onListening,
    });
    this.#running = addressOf(simulator);
    this.#onUp();
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
