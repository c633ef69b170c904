/**
 * Clients that read slowly or pause, in front of a gateway that is a process of its own: who reads on gets every byte, however long
 * the pause was.
 */
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { contentOf, openAnswer, readWhole } from "../../../support/exchange/slow-reader.fixtures.ts";
import { atRest } from "../../../support/observations.ts";
import { rest } from "../../../support/pace.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { until } from "../../../support/wait.ts";

/** uWebSockets.js by itself ends a connection that took nothing for 10 s (looked at every 4 s). */
const LONG_PAUSE_MS = 13_000;
const STREAMS = ["ten", "six", "trickle"] as const;

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({
    engine: false,
    endpoints: [
      { provider: "ten", instruction: { total_bytes: 10_000_000 } },
      { provider: "six", instruction: { total_bytes: 6_000_000 } },
      { provider: "trickle", instruction: { total_bytes: 7_000_000, event_bytes: 500_000, gap_ms: 200 } },
      { provider: "large", instruction: { bytes: 16_000_000 } },
    ],
    settings: { grant_usd: 1_000_000 },
  });
});
afterAll(() => gateway?.stop());

test("T11: reading in sips, or on after a pause longer than the server's own patience, gets every byte", async () => {
  const asked = gateway.simulator.totalCalls;
  const paused = new Map<string, IncomingMessage>();
  for (const name of STREAMS) paused.set(name, await openAnswer(gateway, name));
  const large = await openAnswer(gateway, "large", false);
  const pause = rest(LONG_PAUSE_MS);
  const six = gateway.simulator.calls[asked + 1];
  const expected = new Map<string, object>();
  for (const name of STREAMS) expected.set(name, contentOf(await readWhole(await openAnswer(gateway, name))));
  expect(expected.get("ten")).toMatchObject({ events: 610, last: "[DONE]" });
  await until("the upstream of one has long finished", () => six?.ended === true);
  expect(contentOf(await sipped("six"))).toEqual(expected.get("six"));
  await pause;
  for (const [name, response] of paused) {
    expect(contentOf(await readWhole(response)), name).toEqual(expected.get(name));
  }
  const answer = JSON.parse(await readWhole(large));
  expect(answer.choices[0].message.content.length).toBeGreaterThan(15_900_000);
  expect(answer.svc.cost.total_micro_usd).toBeGreaterThan(0);
  await atRest(gateway);
});

/** A stream that is read with many rests between. */
async function sipped(provider: string): Promise<string> {
  let text = "";
  let sips = 0;
  for await (const part of await openAnswer(gateway, provider)) {
    text += (part as Buffer).toString("latin1");
    if (++sips % 20 === 0 && sips < 400) await rest(10);
  }
  return text;
}
