/**
 * What bodies of model calls take that are made to take long: their time grows with their length and no faster, whatever they
 * hold and whoever is told, and one of megabytes keeps its thread for less than a second. By the processor's time, behind all
 * other tests.
 */
import { describe, expect, test } from "vitest";
import type { Endpoint } from "../../../../src/base/endpoint.ts";
import { WeirError } from "../../../../src/base/errors.ts";
import { countable } from "../../../../src/wire/count.ts";
import type { ClientFormat, FormatName } from "../../../../src/wire/format.ts";
import { FORMATS } from "../../../../src/wire/formats.ts";
import { passageTo } from "../../../../src/wire/passages.ts";
import { HOSTILE_BODIES, type Hostile } from "../../../support/hostile-bodies.fixtures.ts";
import { processorMs } from "../../../support/processor-time.fixtures.ts";
import { endpoint } from "../../../support/routing/fixtures.ts";

const SMALL_BYTES = 128 * 1024;
const TIMES = 8;
/**
 * A body `TIMES` as large takes so many times as long as the small one taken as often; a list searched for each of its elements
 * takes `TIMES` as long.
 */
const MOST_GROWTH = 3;
/** What takes less is not compared: the system counts a processor's time in steps of 4 ms. */
const LEAST_MS = 32;
/** Time for a megabyte, whatever it holds: the worst takes a third of this, one that says something 25 ms. */
const MOST_MS = 800;
/** What is wrong ends the check at once: this is the time of the JSON alone, thrice. */
const REFUSED_MS = 400;
/** The first ones compile, and some collect what others left. */
const TRIES = 4;

const UPSTREAMS: readonly Endpoint[] = (["chat", "responses", "messages", "gemini", "converse"] as const).map(
  (dialect) => endpoint("hostile", { dialects: [dialect], upstreamModel: "claude-up" }),
);

/** Milliseconds, the least of several tries that are above `enoughMs`. Refusals count. */
function leastMs(act: () => unknown, enoughMs: number): number {
  let least = Number.POSITIVE_INFINITY;
  for (let left = TRIES; left > 0 && least > enoughMs; left--) {
    least = Math.min(
      least,
      processorMs(() => refusable(act)),
    );
  }
  return least;
}

function repeated(act: () => unknown): void {
  for (let left = TIMES; left > 0; left--) refusable(act);
}

function refusable<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof WeirError) return undefined;
    throw error;
  }
}

/** All that is done with a body, by name. */
function* workOf(format: ClientFormat, bytes: Buffer): Generator<[string, () => unknown]> {
  yield ["read", () => format.read(bytes)];
  const request = refusable(() => format.read(bytes));
  if (request === undefined) return;
  yield ["counted", () => countable(format, request)];
  for (const to of UPSTREAMS) {
    const passage = passageTo(format, to)?.passage;
    if (passage !== undefined) yield [`told to ${to.dialects[0]}`, () => passage.write(request, to)];
  }
}

describe.each(Object.entries(HOSTILE_BODIES))("of %s", (name, bodies) => {
  const format = FORMATS[name as FormatName];
  test.each(Object.entries(bodies))("S9: %s", (_what, body: Hostile) => {
    const small = new Map(
      [...workOf(format, Buffer.from(body(SMALL_BYTES)))].map(([what, act]) => [
        what,
        leastMs(() => repeated(act), LEAST_MS),
      ]),
    );
    for (const [what, act] of workOf(format, Buffer.from(body(TIMES * SMALL_BYTES)))) {
      const mostMs = Math.min(MOST_MS, MOST_GROWTH * Math.max(LEAST_MS, small.get(what) ?? 0));
      expect(leastMs(act, mostMs), what).toBeLessThan(mostMs);
    }
  });
});

test.each([
  ["chat", "wrong messages", 1_900_000],
  ["responses", "wrong items", 1_900_000],
  ["generate", "wrong parts", 6_000_000],
] as const)("S9: as much as may be of what is wrong is refused soon: %s, %s", (name, what, bytes) => {
  const body = Buffer.from(HOSTILE_BODIES[name]?.[what]?.(bytes) ?? "");
  expect(body.length).toBeGreaterThan(bytes - 100);
  expect(() => FORMATS[name].read(body)).toThrow(expect.objectContaining({ kind: "invalid_value" }));
  expect(leastMs(() => FORMATS[name].read(body), REFUSED_MS)).toBeLessThan(REFUSED_MS);
});
