/**
 * A large one of every field that a caller may send: refused or taken, it never stops the event loop, nor does a later read of
 * the call's record. The fields are those of the API's own description; the gateway is a process of its own.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { longestTurn, WITNESSED } from "../../support/event-loop.fixtures.ts";
import type { Answer } from "../../support/gateway.ts";
import {
  HEALTH_MS,
  type Health,
  type HealthProbe,
  probeHealth,
  slowestMs,
} from "../../support/healthz.fixtures.ts";
import { atRest } from "../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { until } from "../../support/wait.ts";

/** With `WEIR_LARGE_FIELDS=1` millions of members of every field; else so many of the worst alone. */
const IS_LONG = process.env.WEIR_LARGE_FIELDS === "1";
/** Milliseconds of processor time that one turn of the event loop may take. */
const LIMIT_MS = 50;

let gateway: SpawnedGateway;
let probe: HealthProbe | undefined;
beforeAll(async () => {
  gateway = await spawnGateway({
    env: WITNESSED,
    endpoints: [{ provider: "plain" }],
  });
  // The thread that reads large bodies is there before time is measured.
  await gateway.chat({ stop: list(100_000) });
});
afterAll(() => {
  probe?.stop();
  return gateway?.stop();
});

const lists = new Map<number, readonly string[]>();
const maps = new Map<number, Readonly<Record<string, string>>>();

/** The value of a length, made once: the same ones are sent to every route. */
function once<Value>(made: Map<number, Value>, length: number, make: () => Value): Value {
  const value = made.get(length) ?? make();
  made.set(length, value);
  return value;
}

const list = (length: number): readonly string[] =>
  once(lists, length, () => Array.from({ length }, (_, i) => `value ${i}`));
const map = (length: number): Readonly<Record<string, string>> =>
  once(maps, length, () => Object.fromEntries(Array.from({ length }, (_, i) => [`key ${i}`, "v"])));

/** Runs `act` until it kept the event loop for less than the limit: the first round also compiles, and collects others' garbage. */
async function staysQuick(what: string, act: () => Promise<unknown>): Promise<void> {
  const turns: number[] = [];
  while (turns.length < 3) {
    await longestTurn(gateway);
    await act();
    turns.push(await longestTurn(gateway));
    if (IS_LONG) console.info(`${what}: ${turns.at(-1)} ms`);
    if ((turns.at(-1) as number) < LIMIT_MS) return;
  }
  expect.fail(`${what} kept the event loop for ${turns} ms`);
}

const CHAT = { model: "weir/sim-small", messages: [{ role: "user", content: "Hi" }], max_tokens: 2 };
const MESSAGES = { model: "weir/sim-small", messages: CHAT.messages, max_tokens: 2 };
const NATIVE = { model: "weir/sim-small", messages: CHAT.messages };

/** Route, a good body, and where our options stand in it. */
const FORMATS: [string, Record<string, unknown>, (options: object) => object][] = [
  ["/v1/chat/completions", CHAT, (svc) => ({ svc })],
  ["/v1/completions", { model: "weir/sim-small", prompt: "Hi" }, (svc) => ({ svc })],
  ["/v1/responses", { model: "weir/sim-small", input: "Hi" }, (svc) => ({ svc })],
  ["/v1/messages", MESSAGES, (svc) => ({ svc })],
  ["/v1/messages/count_tokens", MESSAGES, (svc) => ({ svc })],
  ["/v1/embeddings", { model: "weir/sim-embed", input: "Hi" }, (svc) => ({ svc })],
  ["/v1/svc/generate", NATIVE, (svc) => svc],
  ["/v1/svc/embed", { model: "weir/sim-embed", input: ["Hi"] }, (svc) => svc],
  ["/v1/svc/rerank", { model: "weir/sim-rerank", query: "Hi", documents: ["Hi"] }, (svc) => svc],
  ["/v1/svc/count_tokens", NATIVE, (svc) => svc],
  ["/v1/svc/dry_run", NATIVE, (svc) => svc],
];

const errorOf = ({ json }: Answer): { code: string; param?: string } => json.error;

describe.each(FORMATS)("%s", (path, good, options) => {
  const post = (more: object) => gateway.call("POST", path, { body: { ...good, ...more } });
  const at = "svc" in options({}) ? "/svc" : "";

  test("O8: its options are bounded, each refused with a pointer", async () => {
    const tags = (count: number) => options({ metadata: { tags: map(count) } });
    const cases: [object, string][] = [
      [tags(33), `${at}/metadata/tags`],
      [tags(3000), `${at}/metadata/tags`],
      [tags(9000), `${at}/metadata/tags`],
      [tags(IS_LONG ? 500_000 : 15_000), `${at}/metadata/tags`],
      [options({ metadata: { tags: { ["k".repeat(65)]: "v" } } }), `${at}/metadata/tags/${"k".repeat(65)}`],
      [options({ metadata: { tags: { k: "v".repeat(257) } } }), `${at}/metadata/tags/k`],
      [options({ metadata: { user_id: "u".repeat(20_000) } }), `${at}/metadata/user_id`],
      [
        options({ provider_options: { plain: { note: "n".repeat(17_000) } } }),
        `${at}/provider_options/plain`,
      ],
      [
        options({ provider_options: { plain: map(IS_LONG ? 50_000 : 15_000) } }),
        `${at}/provider_options/plain`,
      ],
      [options({ provider_options: map(IS_LONG ? 1_500_000 : 15_000) }), `${at}/provider_options`],
      [options({ route: { providers: { order: list(65) } } }), `${at}/route/providers/order`],
      [options({ route: { providers: { only: ["p".repeat(257)] } } }), `${at}/route/providers/only/0`],
    ];
    for (const [more, pointer] of cases) {
      const answer = await post(more);
      expect([answer.status, errorOf(answer).code, errorOf(answer).param ?? pointer]).toEqual([
        400,
        "invalid_value",
        pointer,
      ]);
      expect(answer.text.length).toBeLessThan(1000);
    }
    const most = Object.fromEntries(
      Array.from({ length: 32 }, (_, i) => [`${i}`.padEnd(64), "v".repeat(256)]),
    );
    expect((await post(options({ metadata: { tags: most } }))).status).toBe(200);
  });

  test("O8: many values in any field, right and wrong ones, never stop the event loop", async () => {
    const few = 12_000;
    const values: unknown[] = [
      list(few),
      map(few),
      Array.from({ length: few }, () => ({ type: 1, role: 1 })),
      "x".repeat(250_000),
      ...(IS_LONG ? [map(500_000), list(900_000)] : []),
    ];
    const names = new Set([...Object.keys(good), "metadata", "tools", "stop", "unheard_of"]);
    await staysQuick(path, async () => {
      for (const name of names) {
        for (const value of values) expect((await post({ [name]: value })).status).toBeLessThan(500);
      }
    });
  });
});

const TAGS = IS_LONG ? 1_000_000 : 150_000;
/** Answers of `/healthz` beside them. */
const LOOKS = 6;
/** A machine that stands still for a moment has half of some answers late: the best of them counts. */
const TRIES = 3;

test(`O8: ${TAGS} tags and maps of ${2 * TAGS} members are refused while /healthz answers`, async () => {
  const post = (svc: object) => gateway.chat({ ...CHAT, svc });
  const tags = JSON.stringify({ ...CHAT, svc: { metadata: { tags: map(TAGS) } } });
  const options = JSON.stringify({ ...CHAT, svc: { provider_options: map(2 * TAGS) } }).replaceAll(
    '"v"',
    "1",
  );
  expect(options.length).toBeLessThan(32 * 1024 * 1024);
  const asked = probeHealth(gateway);
  probe = asked;
  await until("it has begun", async () => (await asked.health()).count > 0);
  const refuseBoth = async () => {
    for (const [body, pointer] of [
      [tags, "/svc/metadata/tags"],
      [options, "/svc/provider_options"],
    ]) {
      const answer = await gateway.call("POST", "/v1/chat/completions", { body });
      expect([answer.status, errorOf(answer).param]).toEqual([400, pointer]);
    }
  };
  let slowest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && slowest >= HEALTH_MS; tries++) {
    const looks: Health[] = [];
    // A fast machine refuses both before the probe has asked a few times.
    const looked = () => looks.reduce((sum, { count }) => sum + count, 0);
    while (looked() < LOOKS) {
      await staysQuick("so many members", refuseBoth);
      looks.push(await asked.health());
    }
    if (IS_LONG) console.info(looks);
    for (const { failed } of looks) expect(failed).toBe(0);
    slowest = Math.max(...looks.map((health) => slowestMs(health, IS_LONG)));
  }
  asked.stop();
  expect(slowest).toBeLessThan(HEALTH_MS);
  expect((await post({ metadata: { tags: map(32) } })).status).toBe(200);
});

describe("control plane", () => {
  /** More than the values that a body of the control plane may hold. */
  const MANY = IS_LONG ? 12_000 : 5000;

  interface Schema {
    readonly properties?: Readonly<Record<string, Schema>>;
    readonly items?: Schema;
  }

  /** Every place of a schema where a value may stand, as the names on the way. */
  function places(schema: Schema, depth = 0): string[][] {
    if (depth > 3) return [];
    return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
      [name],
      ...places(inner, depth + 1).map((path) => [name, ...path]),
    ]);
  }

  const within = (path: readonly string[], value: unknown): object =>
    path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object;

  test("O8: a large one of every field of every operation", async () => {
    const { json } = await gateway.call("GET", "/openapi.json", { key: null });
    let asked = 0;
    for (const [path, methods] of Object.entries(json.paths as Record<string, Record<string, object>>)) {
      for (const [method, operation] of Object.entries(methods)) {
        const { requestBody } = operation as {
          requestBody?: { content: Record<string, { schema: Schema }> };
        };
        const schema = requestBody?.content["application/json"]?.schema;
        if (schema === undefined || FORMATS.some(([known]) => known === path)) continue;
        const url = path.replace(/\{\w+\}/g, "some");
        const bodies = places(schema).flatMap((place) =>
          [list(MANY), map(Math.min(MANY, 9000)), "x".repeat(200_000)].map((value) => within(place, value)),
        );
        await staysQuick(`${method} ${path}`, async () => {
          for (const body of bodies) {
            const { status, text } = await gateway.call(method.toUpperCase(), url, { body });
            expect(status).toBeLessThan(500);
            expect(text.length).toBeLessThan(10_000);
            asked++;
          }
        });
      }
    }
    expect(asked).toBeGreaterThan(50);
  });

  test("O8: a query of thousands of parameters", async () => {
    const query = Array.from({ length: 6000 }, (_, i) => `k${i.toString(36)}`).join("&");
    await staysQuick("GET /v1/requests", async () => {
      expect((await gateway.call("GET", `/v1/requests?${query}`)).status).toBe(200);
      expect((await gateway.call("GET", `/v1/requests?${"limit=1&".repeat(3500)}`)).status).toBe(400);
    });
  });
});

test("O8: a record with as much as may be said is read without stopping anything", async () => {
  const tags = Object.fromEntries(
    Array.from({ length: 32 }, (_, i) => [`${i}`.padEnd(64, "k"), "v".repeat(256)]),
  );
  const { json, status } = await gateway.chat({
    ...CHAT,
    metadata: { note: "n".repeat(16_000) },
    svc: { metadata: { tags, app: "a".repeat(128) } },
  });
  expect(status).toBe(200);
  const id = json.svc.request_id as string;
  await atRest(gateway);
  await until(
    "the record is there",
    async () => (await gateway.call("GET", `/v1/requests/${id}`)).status === 200,
  );
  await staysQuick("the record", async () => {
    for (const path of [`/v1/requests/${id}`, `/v1/generation/${id}`, "/v1/requests"]) {
      expect((await gateway.call("GET", path)).status).toBe(200);
    }
  });
});
