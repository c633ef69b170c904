/**
 * Stripe's adapter against stripe-mock, which checks each request against Stripe's own OpenAPI document. It has no state, so
 * this shows that requests are well formed and that Stripe's examples of answers can be read. Built by the Go toolchain.
 */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/base/clock.ts";
import { MINUTE_MS } from "../../../../src/base/time.ts";
import { GatewayError } from "../../../../src/billing/payments/gateway.ts";
import { StripeGateway } from "../../../../src/billing/payments/stripe/gateway.ts";
import { freePort } from "../../../support/free-port.ts";

const MOCK = "github.com/stripe/stripe-mock@latest";

const missing = whyNot();

function whyNot(): string | undefined {
  if (process.env.WEIR_THOROUGH === undefined) return "it is built in a thorough run only";
  try {
    execFileSync("go", ["version"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "there is no Go toolchain here";
  }
}

describe.skipIf(missing !== undefined)(
  `stripe-mock${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), "weir-stripe-mock-"));
    let mock: ChildProcess;
    let gateway: StripeGateway;
    const call = { idempotencyKey: "key-of-the-test", signal: new AbortController().signal };
    const payer = { orgId: "org_1", name: "Asha", email: "asha@example.com" };
    const total = { currency: "USD", minor: 2500 } as const;

    beforeAll(async () => {
      const env = { ...process.env, GOBIN: folder, CGO_ENABLED: "0" };
      execFileSync("go", ["install", MOCK], { env, stdio: "ignore", timeout: 300_000 });
      const port = await freePort();
      mock = spawn(join(folder, "stripe-mock"), ["-http-port", String(port)], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      await new Promise<void>((resolve, reject) => {
        mock.stdout?.on("data", (text: Buffer) => text.includes("Listening") && resolve());
        mock.once("exit", () => reject(new Error("stripe-mock ended")));
      });
      const apiBase = `http://127.0.0.1:${port}`;
      gateway = new StripeGateway({
        secretKey: "sk_test_123",
        apiBase,
        clock: systemClock,
        webhookSecrets: [],
      });
    });
    afterAll(() => {
      mock?.kill();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Its examples of answers may be in another currency, which is told as such; everything else must be read. */
    async function accepted(asked: Promise<unknown>): Promise<void> {
      try {
        await asked;
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
        expect((error as GatewayError).message).toMatch(
          /no currency of ours|has no page|confirm a debit: (?:unknown|canceled)/,
        );
      }
    }

    const order = {
      reference: "tup_1",
      payer,
      total,
      description: "Credit",
      returnUrl: "https://example.com/back",
      expiresAtMs: systemClock.now() + 30 * MINUTE_MS,
      methods: ["card", "ach_debit"] as const,
    };
    const mandate = { ref: "cs_1", tokenRef: "cus_1/pm_1", method: "card" } as const;
    const debit = { reference: "tup_1", payer, mandate, total, description: "Credit" };

    test.each<[string, (stripe: StripeGateway) => Promise<unknown>]>([
      ["a checkout", (stripe) => stripe.createCheckout(order, call)],
      ["a checkout to read", (stripe) => stripe.readCheckout("cs_1", call)],
      ["the end of a checkout", (stripe) => stripe.expireCheckout("cs_1", call)],
      ["a payment", (stripe) => stripe.readPayment("pi_1", call)],
      ["a capture", (stripe) => stripe.capture("pi_1", total, call)],
      ["a refund", (stripe) => stripe.refund({ reference: "rfd_1", paymentRef: "pi_1", total }, call)],
      ["refunds", (stripe) => stripe.refundsOf("pi_1", call)],
      ["a dispute", (stripe) => stripe.readDispute("dp_1", call)],
      ["a fraud warning", (stripe) => stripe.readDispute("issfr_1", call)],
      [
        "a mandate",
        (stripe) =>
          stripe.registerMandate({ ...order, reference: "mdt_1", method: "card", cap: total }, call),
      ],
      ["a mandate to read", (stripe) => stripe.readMandate("cs_1", call)],
      ["the end of a mandate", (stripe) => stripe.cancelMandate(mandate, call)],
      ["a debit", (stripe) => stripe.prepareDebit(debit, call)],
      ["a confirmation", (stripe) => stripe.confirmDebit("pi_1", debit, call)],
    ])("accepts %s", async (_, ask) => {
      await accepted(ask(gateway));
    });

    test("lists the lines and payouts of an hour", async () => {
      const fromMs = Date.UTC(2026, 10, 23);
      const hour = { fromMs, toMs: fromMs + 60 * MINUTE_MS };
      await accepted(gateway.linesOf(hour, call)[Symbol.asyncIterator]().next());
      await accepted(gateway.settlementsOf(hour, call)[Symbol.asyncIterator]().next());
    });
  },
);
