/**
 * No body of a model call keeps the event loop, whatever it holds: the small ones that hold much are read and written beside it, as
 * large ones are, and of large ones only a part is repeated. The gateway is a process of its own, and time is its processor's.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FormatName } from "../../../src/wire/format.ts";
import { longestTurn, WITNESSED } from "../../support/event-loop.fixtures.ts";
import { HOSTILE_BODIES } from "../../support/hostile-bodies.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";

/** 10 ms, twice for a machine that others use, and the 4 ms at which the witness looks. */
const TURN_MS = 24;
/** The first ones compile, and collect what others left. */
const TRIES = 8;
/** Just below what is always read beside the event loop. */
const SMALL = 250_000;
const LARGE = 8_000_000;
const PATHS: Partial<Record<FormatName, string>> = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  responses: "/v1/responses",
};

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({
    env: WITNESSED,
    engine: false,
    settings: { grant_usd: 10_000 },
    model: { context: 50_000_000 },
    endpoints: ["chat", "messages", "gemini", "converse"].map((dialect) => ({
      provider: `p-${dialect}`,
      dialects: [dialect],
      entry: { context: 50_000_000 },
    })),
  });
});
afterAll(() => gateway?.stop());

const optionsFor = (dialect: string): string =>
  `"model":"test/model","svc":{"route":{"providers":{"only":["p-${dialect}"]}}}`;

/** Sends the body until a turn of the event loop was short. */
async function staysQuick(path: string, body: string): Promise<void> {
  const turns: number[] = [];
  while (turns.length < TRIES && Math.min(...turns) >= TURN_MS) {
    await longestTurn(gateway);
    const { status, text } = await gateway.call("POST", path, { body });
    expect([status, text.slice(0, 300)]).toEqual([200, expect.any(String)]);
    turns.push(await longestTurn(gateway));
  }
  expect(Math.min(...turns), `turns of ${turns} ms`).toBeLessThan(TURN_MS);
}

test.each([
  ["chat", "files of one name", "converse", SMALL],
  ["messages", "documents of one title", "converse", SMALL],
  ["chat", "parts that are nothing", "gemini", SMALL],
  ["chat", "parts that are texts", "messages", SMALL],
  ["messages", "nested inputs", "gemini", SMALL],
  ["responses", "line ends", "chat", LARGE],
  ["responses", "long instructions", "chat", LARGE],
] as const)("S9: %s, %s, told to %s", async (format, what, dialect, bytes) => {
  const made = HOSTILE_BODIES[format]?.[what]?.(bytes) ?? "";
  await staysQuick(PATHS[format] ?? "", made.replace('"model":"v/m"', optionsFor(dialect)));
});

test("S9: references to stored items, many or among megabytes of nothing", async () => {
  const { json } = await gateway.call("POST", "/v1/responses", {
    body: `{${optionsFor("chat")},"input":"Hi"}`,
  });
  const reference = `{"type":"item_reference","id":"${json.output[0].id}"}`;
  const among = (input: string) => `{${optionsFor("chat")},"input":[${input}]}`;
  await staysQuick("/v1/responses", among(`${" ".repeat(LARGE)}${reference}`));
  await staysQuick("/v1/responses", among(Array.from({ length: 4000 }, () => reference).join()));
  const { status, json: refused } = await gateway.call("POST", "/v1/responses", {
    body: among(Array.from({ length: 4001 }, () => reference).join()),
  });
  expect([status, refused.error.param]).toEqual([400, "/input"]);
});
