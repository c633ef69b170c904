/**
 * What the built-in identity provider keeps of sessions, sign-ins and codes: bounded, expiring, and only changed by saving.
 */
import { beforeEach, expect, test } from "vitest";
import { expiringAdapters } from "../../../simulator/identity/expiring-adapter.ts";

let wallMs = 0;
const clock = { now: () => wallMs, monotonic: () => wallMs };
const newAdapter = () => expiringAdapters(clock)("Session");

beforeEach(() => {
  wallMs = 1_800_000_000_000;
});

test("an entry is there until its seconds are over", async () => {
  const adapter = newAdapter();
  await adapter.upsert("a", { uid: "u" }, 60);
  wallMs += 59_999;
  expect(await adapter.find("a")).toEqual({ uid: "u" });
  wallMs += 1;
  expect(await adapter.find("a")).toBeUndefined();
  expect(await adapter.findByUid("u")).toBeUndefined();
});

test("of more than a thousand entries the oldest goes, and saving makes an entry new", async () => {
  const adapter = newAdapter();
  for (let i = 0; i < 1_000; i++) await adapter.upsert(`id ${i}`, {}, 60);
  await adapter.upsert("id 0", {}, 60);
  await adapter.upsert("one more", {}, 60);
  expect(await adapter.find("id 0")).toEqual({});
  expect(await adapter.find("id 1")).toBeUndefined();
  expect(await adapter.find("id 2")).toEqual({});
});

test("a change of what was found changes nothing that is kept", async () => {
  const adapter = newAdapter();
  const payload = { uid: "u", amr: ["pwd"] };
  await adapter.upsert("a", payload, 60);
  payload.amr.push("otp");
  const found = await adapter.findByUid("u");
  if (found) found.uid = "v";
  expect(await adapter.find("a")).toEqual({ uid: "u", amr: ["pwd"] });
});

test("what was consumed says when, and what its grant loses is gone", async () => {
  const adapter = newAdapter();
  await adapter.upsert("a", { grantId: "g" }, 60);
  await adapter.upsert("b", { grantId: "h" }, 60);
  await adapter.consume("a");
  await adapter.consume("nobody");
  expect(await adapter.find("a")).toEqual({ grantId: "g", consumed: 1_800_000_000 });
  await adapter.revokeByGrantId("g");
  expect(await adapter.find("a")).toBeUndefined();
  expect(await adapter.find("b")).toEqual({ grantId: "h" });
  await adapter.destroy("b");
  expect(await adapter.find("b")).toBeUndefined();
});
