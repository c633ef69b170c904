/** What is built in for people who try the gateway is for requests that come from this machine directly. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FORWARDING } from "../../support/forwarding-headers.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";

let gateway: TestGateway;
let checkout: string;
beforeAll(async () => {
  gateway = await testGateway({ engine: false, cells: 0 });
  const body = { amount_minor: 1000 };
  const made = await gateway.call("POST", "/v1/credits/topups", { body });
  checkout = made.json.checkout_url;
});
afterAll(() => gateway.stop());

const statusOf = async (url: string, headers: Record<string, string> = {}, method = "GET", body = "") =>
  (await httpCall(method, url, { headers, ...(body !== "" && { body }) }))?.status;

describe("S14: mails that are written instead of sent", () => {
  test("are shown on this machine", async () => {
    expect(await statusOf(`${gateway.url}/dev/mail`)).toBe(200);
  });

  test.each(FORWARDING)("are not shown with %s", async (name) => {
    expect(await statusOf(`${gateway.url}/dev/mail`, { [name]: "1.1 proxy" })).toBe(404);
    expect(await statusOf(`${gateway.url}/dev/mail/job_1`, { [name]: "1.1 proxy" })).toBe(404);
  });

  test("are gone once a mail service is set", async () => {
    const sending = await testGateway({ engine: false, cells: 0, env: { SMTP_URL: "smtp://127.0.0.1:9" } });
    try {
      expect(await statusOf(`${sending.url}/dev/mail`)).toBe(404);
    } finally {
      await sending.stop();
    }
  });
});

describe("S14: the simulated checkout", () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };

  test.each(FORWARDING)("is neither shown nor paid with %s", async (name) => {
    expect(await statusOf(checkout, { [name]: "1.1 proxy" })).toBe(404);
    expect(await statusOf(checkout, { ...form, [name]: "1.1 proxy" }, "POST", "act=pay")).toBe(404);
    const act = JSON.stringify({ act: "webhooks" });
    const control = new URL("/control", checkout).href;
    expect(await statusOf(control, { [name]: "1.1 proxy" }, "POST", act)).toBe(404);
  });

  test("is shown and paid on this machine", async () => {
    expect(await statusOf(checkout)).toBe(200);
    expect(await statusOf(checkout, form, "POST", "act=pay")).toBe(303);
  });

  test("is gone once a payment service is set", async () => {
    const env = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
    const paying = await testGateway({ engine: false, cells: 0, env });
    try {
      const hook = `${paying.url}/webhooks/payments/simulated`;
      expect(await statusOf(hook, {}, "POST", "{}")).toBe(404);
    } finally {
      await paying.stop();
    }
    const settings = { payments: { INR: "simulated" } };
    await expect(testGateway({ engine: false, cells: 0, env, settings })).rejects.toThrow(
      "payments: simulated",
    );
  });
});
