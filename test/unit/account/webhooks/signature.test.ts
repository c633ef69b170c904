/** Signatures against the package that receivers verify with. */
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newWebhookSecret, signatures } from "../../../../src/account/webhooks/signature.ts";

const message = { id: "evt_1", timestampS: 1_790_000_000, body: Buffer.from('{"name":"Zürich ₹ 🎉"}') };

test("a signature is the one that the package of the standard makes", () => {
  const secret = newWebhookSecret();
  const expected = new Webhook(secret).sign(
    message.id,
    new Date(message.timestampS * 1000),
    message.body.toString(),
  );
  expect(signatures([secret], message)).toBe(expected);
});

test("a secret is whsec_ and base64 of 32 bytes, and no two are the same", () => {
  const secrets = Array.from({ length: 50 }, newWebhookSecret);
  expect(new Set(secrets).size).toBe(50);
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(Buffer.from(secret.slice(6), "base64")).toHaveLength(32);
  }
});

test("with two secrets there are two signatures, with a space between, and either receiver takes it", () => {
  const [old, young] = [newWebhookSecret(), newWebhookSecret()];
  const now = { ...message, timestampS: Math.floor(Date.now() / 1000) };
  const header = signatures([young, old], now);
  expect(header).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
  const headers = {
    "webhook-id": now.id,
    "webhook-timestamp": String(now.timestampS),
    "webhook-signature": header,
  };
  for (const secret of [old, young]) {
    expect(new Webhook(secret).verify(now.body.toString(), headers)).toEqual({ name: "Zürich ₹ 🎉" });
  }
  expect(() => new Webhook(newWebhookSecret()).verify(now.body.toString(), headers)).toThrow();
  expect(() => new Webhook(young).verify(`${now.body.toString()} `, headers)).toThrow();
});
