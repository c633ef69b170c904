/** Windows of addresses: one for each network that a client has to itself, in bounded memory, whoever floods them. */
import { expect, test } from "vitest";
import { AddressWindows } from "../../../../src/credits/limits/address-windows.ts";
import { ManualClock } from "../../../support/credits/fixtures.ts";

function desk(most?: number) {
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const windows = new AddressWindows(clock, most);
  const take = (address: string, limit = 2, kind = "reads") => windows.take(kind, address, limit).waitMs;
  return { clock, windows, take };
}

test("S7: the wait is exact to the millisecond, and a refusal counts nothing", () => {
  const { clock, take } = desk();
  expect([take("203.0.113.7"), take("203.0.113.7")]).toEqual([0, 0]);
  clock.advance(1000);
  expect([take("203.0.113.7"), take("203.0.113.7")]).toEqual([59_000, 59_000]);
  clock.advance(58_999);
  expect(take("203.0.113.7")).toBe(1);
  clock.advance(1);
  expect(take("203.0.113.7")).toBe(0);
});

test("S7: an IPv6 address counts with its /64, an IPv4 address by itself, however it is written", () => {
  const { take } = desk(100);
  expect([take("2001:db8::1"), take("2001:db8::2"), take("2001:db8:0:0:ffff::3")]).toEqual([0, 0, 60_000]);
  expect(take("2001:db8:0:1::1")).toBe(0);
  expect([take("203.0.113.7"), take("::ffff:203.0.113.7"), take("203.0.113.7")]).toEqual([0, 0, 60_000]);
  expect(take("203.0.113.8")).toBe(0);
});

test("S7: kinds of requests have windows of their own", () => {
  const { take } = desk();
  for (const kind of ["reads", "changes"])
    expect([take("203.0.113.7", 1, kind), take("203.0.113.7", 1, kind)]).toEqual([0, 60_000]);
});

test("S7: a flood of addresses drops no window that counts something, and memory stays bounded", () => {
  const { windows, take } = desk(50);
  for (let i = 0; i < 2; i++) take("203.0.113.7");
  for (let i = 0; i < 20_000; i++) take(`2001:db8:${(i >> 8).toString(16)}:${(i & 255).toString(16)}::1`);
  expect(take("203.0.113.7")).toBe(60_000);
  expect(windows.tracked).toBeLessThanOrEqual(51);
});

test("S7: beyond the bound a flooding network shares one window, and other networks have others", () => {
  const { take } = desk(1);
  take("192.0.2.1");
  const flood = Array.from({ length: 500 }, (_, i) => take(`2001:db8:${i.toString(16)}::1`));
  expect(flood.filter((waitMs) => waitMs === 0)).toHaveLength(2);
  // A network may share the flood's window by chance, one in a thousand: hardly all of these.
  const others = ["198.51.100.1", "198.18.0.1", "100.64.0.1", "2a00:1450::1"].map((address) => take(address));
  expect(others.filter((waitMs) => waitMs === 0).length).toBeGreaterThan(0);
});

test("S7: once a minute is over there is room for others", () => {
  const { clock, windows, take } = desk(20);
  for (let i = 0; i < 20; i++) take(`203.0.113.${i}`);
  clock.advance(60_000);
  for (let i = 0; i < 40; i++) take("198.51.100.1", 1000);
  expect(windows.tracked).toBe(1);
});
