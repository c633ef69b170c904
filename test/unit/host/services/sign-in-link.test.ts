/** The sign-in link of a start: how long it is open, and how often it works. */
import { expect, test } from "vitest";
import { LINK_MS, SignInLink } from "../../../../src/host/services/sign-in-link.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

const START = "2026-09-09T00:00:00Z";

function opened() {
  const clock = new ManualClock(START);
  const link = new SignInLink(clock);
  return { clock, link, token: link.make().replace("/auth/link/", "") };
}

test("works once, however often it is looked at", () => {
  const { link, token } = opened();
  expect([link.isOpen(token), link.isOpen(token), link.take(token)]).toEqual([true, true, true]);
  expect([link.isOpen(token), link.take(token)]).toEqual([false, false]);
});

test("ends after ten minutes", () => {
  const { clock, link, token } = opened();
  clock.advance(LINK_MS - 1);
  expect(link.isOpen(token)).toBe(true);
  clock.advance(1);
  expect([link.isOpen(token), link.take(token)]).toEqual([false, false]);
});

test("does not last longer where the clock is set back", () => {
  const { clock, link, token } = opened();
  clock.advance(LINK_MS);
  clock.set(START);
  expect(link.isOpen(token)).toBe(false);
});

test("ends when another is made", () => {
  const { link, token } = opened();
  const second = link.make().replace("/auth/link/", "");
  expect(second).toMatch(/^[\w-]{43}$/);
  expect([link.take(token), link.take(second)]).toEqual([false, true]);
});

test("takes no other token, and none before one is made", () => {
  const { link, token } = opened();
  const last = token.at(-1) === "A" ? "B" : "A";
  for (const other of [
    "",
    token.slice(1),
    `${token}A`,
    token.slice(0, -1) + last,
    "é".repeat(43),
    "x".repeat(43),
  ])
    expect(link.take(other)).toBe(false);
  expect(link.take(token)).toBe(true);
  expect(new SignInLink(new ManualClock(START)).take(token)).toBe(false);
});
