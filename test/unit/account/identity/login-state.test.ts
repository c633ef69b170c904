/** What a browser carries from the beginning of a sign-in to its end: readable here only, and not for long. */
import { EncryptJWT } from "jose";
import { describe, expect, test } from "vitest";
import { LoginStates } from "../../../../src/account/identity/login-state.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

const SECRET = Buffer.alloc(32, 1);
const STATE = {
  state: "a state",
  nonce: "a nonce",
  codeVerifier: "a verifier",
  redirectUri: "http://localhost/x",
  returnTo: "/",
  firstOwner: "a secret",
};
const clock = new ManualClock("2026-09-09T00:00:00Z");
const states = new LoginStates(SECRET, clock);

const bytesOf = (sealed: string): string =>
  sealed
    .split(".")
    .map((part) => Buffer.from(part, "base64url").toString("hex"))
    .join(".");

describe("a sealed state", () => {
  test("opens to what it was, and shows nothing of it before", async () => {
    const sealed = await states.seal(STATE);
    expect(await states.open(sealed)).toMatchObject(STATE);
    for (const part of sealed.split(".")) {
      expect(Buffer.from(part, "base64url").toString("latin1")).not.toMatch(/a state|verifier|a secret/);
    }
    expect(await states.seal(STATE)).not.toBe(sealed);
  });

  test("ends after a quarter of an hour, by the gateway's clock", async () => {
    const sealed = await states.seal(STATE);
    clock.advance(states.maxAgeMs - 1000);
    expect(await states.open(sealed)).toBeDefined();
    clock.advance(1000);
    expect(await states.open(sealed)).toBeUndefined();
  });

  test("of another secret, or changed at any character, opens to nothing", async () => {
    const sealed = await states.seal(STATE);
    expect(await new LoginStates(Buffer.alloc(32, 2), clock).open(sealed)).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 7) {
      const other = sealed[at] === "A" ? "B" : "A";
      const changed = `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
      // The last character of a part may hold bits that stand for nothing.
      if (bytesOf(changed) === bytesOf(sealed)) continue;
      expect(await states.open(changed)).toBeUndefined();
    }
  });

  test("that lacks a part, or is no sealed state at all, opens to nothing", async () => {
    const { nonce: _, ...less } = STATE;
    const header = { alg: "dir", enc: "A256GCM" };
    const end = new Date(clock.now() + 60_000);
    const made = (payload: object) => new EncryptJWT({ ...payload }).setProtectedHeader(header);
    expect(await states.open(await made(less).setExpirationTime(end).encrypt(SECRET))).toBeUndefined();
    for (const text of ["", "x", "....", "e30.e30.e30.e30.e30", "x".repeat(10_000)]) {
      expect(await states.open(text)).toBeUndefined();
    }
  });
});
