/**
 * Large images and documents in every client format to every dialect: the upstream gets the very bytes, nobody waits for
 * them, what is held for them is right, and no memory of them stays.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { SimulatedCall } from "../../../../simulator/calls.ts";
import type { ClientFormat } from "../../../../src/wire/format.ts";
import { FORMATS as WIRE } from "../../../../src/wire/formats.ts";
import { longestTurn, WITNESSED } from "../../../support/event-loop.fixtures.ts";
import { atRest } from "../../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import {
  base64,
  bytesOf,
  FORMAT_NAMES,
  FORMATS,
  type FormatName,
  sendInPieces,
  userSays,
} from "./multimodal.bodies.ts";

/** The default of `limits.max_body_bytes`. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const TOO_LARGE = new Uint8Array(MAX_BODY_BYTES + 1).fill(32);
interface Refusal {
  readonly type?: string;
  readonly error: { readonly type: string; readonly message: string };
}
const CONTEXT = 1_900_000;
const IMAGE_TOKENS = 5000;
const CLAUDE = "anthropic.claude-sonnet-4-5-20250929-v1:0";
const entry = { image_tokens: IMAGE_TOKENS };

let gateway: SpawnedGateway;
beforeAll(async () => {
  gateway = await spawnGateway({
    endpoints: [
      ...["chat", "responses", "messages", "gemini"].map((dialect) => ({
        provider: dialect,
        dialects: [dialect],
        entry: { ...entry, dialects: [dialect] },
      })),
      {
        provider: "converse",
        dialects: ["converse"],
        auth: "aws_sigv4",
        entry: { ...entry, dialects: ["converse"], upstream_model: CLAUDE },
      },
    ],
    model: { context: CONTEXT },
    settings: { grant_usd: 10_000 },
    env: {
      AWS_ACCESS_KEY_ID: "AKIDEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "secret",
      ...WITNESSED,
      // Nothing listens there: nothing here reads analytics, and without the embedded engine a start is light.
      CLICKHOUSE_URL: "http://127.0.0.1:1",
    },
  });
});
afterAll(() => gateway?.stop());
afterEach(() => atRest(gateway));

const DIALECTS = ["chat", "responses", "messages", "gemini", "converse"];
const hash = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");
const send = (name: FormatName, body: Buffer, headers?: Record<string, string>) =>
  sendInPieces(`${gateway.url}${FORMATS[name].path}`, gateway.liveKey, body, headers);

/** The request that reached the simulator last. */
const lastCall = (): SimulatedCall => gateway.simulator.calls.at(-1) as SimulatedCall;

/** Hashes of the long strings in it, without the head of a data URL. */
const received = (): string[] =>
  lastCall()
    .body.toString("latin1")
    .split('"')
    .filter(({ length }) => length > 10_000)
    .map((text) => hash(text.slice(text.lastIndexOf(",") + 1)))
    .sort();

/** A conversation with a document, two images, and two more in a tool's result. */
function conversation(name: FormatName, provider: string, bytesEach: number) {
  const format = FORMATS[name];
  const data = ["paper", "first", "second", "third", "fourth"].map((word) => base64(word, bytesEach));
  const [paper, first, second, third, fourth] = data as [string, string, string, string, string];
  const turns = [
    userSays(
      format.text("Read and look."),
      format.document(paper),
      format.image(first),
      format.image(second),
    ),
    ...format.toolTurns([format.text("Seen."), format.image(third), format.image(fourth)]),
  ];
  return { body: format.body(turns, provider), hashes: data.map(hash).sort() };
}

describe.each(FORMAT_NAMES)("T57: %s", (name) => {
  test.each(DIALECTS)(
    "to %s: images, a document and a tool's images arrive as they left",
    async (dialect) => {
      const { body, hashes } = conversation(name, dialect, 400_000);
      expect(await send(name, bytesOf(body))).toMatchObject({ status: 200 });
      expect(received()).toEqual(hashes);
      const { headers, body: got } = lastCall();
      if (dialect === "converse") expect(headers["x-amz-content-sha256"]).toBe(hash(got));
    },
  );

  test("the facts are those of a small body", () => {
    for (const bytesEach of [12_000, 4_000, 200]) {
      const { facts } = (WIRE[name] as ClientFormat).read(
        bytesOf(conversation(name, "chat", bytesEach).body),
      );
      expect(facts).toMatchObject({ hasImages: true, imageCount: 4, hasUncounted: true, hasAudio: false });
      // Four images of 1600, and a few hundred bytes of text; what is too short to be media counts as text.
      expect(facts.promptTokens).toBeGreaterThan(6400);
      expect(facts.promptTokens).toBeLessThan(6400 + 700);
    }
  });

  test("T56: a byte over 32 MB is a 413 in the route's own shape", async () => {
    const refused = await fetch(`${gateway.url}${FORMATS[name].path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${gateway.liveKey}`, "content-type": "application/json" },
      body: TOO_LARGE,
    });
    expect(refused.status).toBe(413);
    const { type, error } = (await refused.json()) as Refusal;
    expect(error.message).toContain(`${MAX_BODY_BYTES} bytes`);
    expect(error.type).toBe(name === "messages" ? "request_too_large" : "payload_too_large");
    expect(type).toBe(name === "messages" ? "error" : undefined);
  });
});

test("T56: a body of 32 MB is taken", async () => {
  const { body: format, text, image } = FORMATS.messages;
  const bodyOf = (data: string, filler: string) =>
    bytesOf(format([userSays(text(filler), image(data))], "responses"));
  const data = base64("large", MAX_BODY_BYTES - 1000);
  const body = bodyOf(data, "x".repeat(MAX_BODY_BYTES - bodyOf(data, "").length));
  expect(body.length).toBe(MAX_BODY_BYTES);
  expect((await send("messages", body)).status).toBe(200);
  expect(received()).toEqual([hash(data)]);
});

test("T56: a compressed body counts as what it is once decompressed", async () => {
  const { body, hashes } = conversation("messages", "gemini", 1_000_000);
  const zipped = { "content-encoding": "gzip" };
  expect((await send("messages", gzipSync(bytesOf(body), { level: 1 }), zipped)).status).toBe(200);
  expect(received()).toEqual(hashes);
  const refused = await send("messages", gzipSync(Buffer.alloc(MAX_BODY_BYTES + 1, " ")), zipped);
  expect(refused.status).toBe(413);
  expect(JSON.parse(refused.text)).toMatchObject({ type: "error", error: { type: "request_too_large" } });
});

test("T49: another maker's thinking is taken out of a large body too, which passes otherwise as it is", async () => {
  const { body: format, text, image } = FORMATS.messages;
  const data = base64("seen", 2_000_000);
  const thinking = { type: "thinking", thinking: "Hm.", signature: "weir.google.c2VhbGVk" };
  const answered = { role: "assistant", content: [thinking, text("A river.")] };
  const body = format([userSays(image(data)), answered, userSays(text("Sure?"))], "messages");
  expect((await send("messages", bytesOf(body))).status).toBe(200);
  expect(received()).toEqual([hash(data)]);
  const got = lastCall().body.toString("latin1");
  expect(got).toContain("A river.");
  expect(got).not.toContain("weir.google");
});

test("a large body with an Idempotency-Key is answered again, byte for byte", async () => {
  const { body } = conversation("chat", "converse", 2_000_000);
  const headers = { "idempotency-key": "multimodal" };
  const first = await send("chat", bytesOf(body), headers);
  const calls = gateway.simulator.totalCalls;
  expect(await send("chat", bytesOf(body), headers)).toEqual(first);
  expect(first.status).toBe(200);
  expect(gateway.simulator.totalCalls).toBe(calls);
});

describe("what is held", () => {
  const { generate } = FORMATS;
  const dryRun = async (parts: readonly object[]) => {
    const turns = [userSays(...(parts as Record<string, unknown>[]))];
    const { tools: _, ...body } = generate.body(turns, "chat");
    const asked = { ...body, generation: { max_tokens: 1000 } };
    const { json } = await gateway.call("POST", "/v1/svc/dry_run", { body: asked });
    return { micro: json.reserve_micro as number, promptBytes: JSON.stringify(turns).length };
  };
  /** One micro-USD a token in, two a token out, and four for rounding. */
  const microOf = (promptTokens: number) => promptTokens + 2 * 1000 + 4;

  test.each([1, 7, 30])("of %i images: the endpoint's bound of each, whatever their size", async (count) => {
    const each = 300_000;
    const images = Array.from({ length: count }, (_, i) => generate.image(base64(`${i}`, each)));
    const { micro, promptBytes } = await dryRun([generate.text("Look."), ...images]);
    const prose = promptBytes - count * each;
    // Twice the estimate and the framing; of that an image has 3200, the rest of its bound comes on top.
    const text = 2 * (Math.ceil(prose / 4) + 1600 * count) + 64;
    expect(micro).toBe(microOf(text + count * (IMAGE_TOKENS - 3200)));
  });

  test("of a document: the whole context, whatever its size", async () => {
    for (const size of [1000, 8_000_000]) {
      const { micro } = await dryRun([generate.document(base64("paper", size))]);
      expect(micro).toBe(microOf(CONTEXT));
    }
  });
});

/** Processor time in one turn of the event loop, which includes what the collector takes of it. */
const LIMIT_MS = 15;

describe("T54: hold up nobody", () => {
  /** The best of eight at the most: on a busy machine much arrives in one turn, and code is compiled in some. */
  async function passesQuickly(name: FormatName, body: Buffer, path = FORMATS[name].path): Promise<void> {
    const turns: number[] = [];
    while (turns.length < 8 && !turns.some((ms) => ms < LIMIT_MS)) {
      await longestTurn(gateway);
      expect(await sendInPieces(`${gateway.url}${path}`, gateway.liveKey, body)).toMatchObject({
        status: 200,
      });
      turns.push(await longestTurn(gateway));
    }
    console.log(`${path}, ${(body.length / 1e6).toFixed(0)} MB: ${turns} ms`);
    expect(Math.min(...turns)).toBeLessThan(LIMIT_MS);
  }

  const WAYS: [FormatName, string][] = [
    ["chat", "chat"],
    ["messages", "messages"],
    ["responses", "gemini"],
    ["generate", "converse"],
  ];
  test.each(WAYS)("30 MB of images and a document, %s to %s", (name, dialect) =>
    passesQuickly(name, bytesOf(conversation(name, dialect, 6_000_000).body)),
  );

  const prose = "All the rivers run into the sea; yet the sea is not full. ".repeat(69_000);
  test("a prompt of a million tokens, translated", () =>
    passesQuickly(
      "generate",
      bytesOf(FORMATS.generate.body([userSays({ type: "text", text: prose })], "messages")),
    ));

  test("a token count of fifty thousand messages", () => {
    const turns =
      prose
        .slice(0, 1_500_000)
        .match(/[^;.]+[;.] /g)
        ?.map((content) => ({ role: "user", content })) ?? [];
    return passesQuickly("generate", bytesOf(FORMATS.generate.body(turns, "chat")), "/v1/svc/count_tokens");
  });
});

test("T55: the memory of large bodies is given back while more of them come", async () => {
  const bodies = FORMAT_NAMES.map((name) => bytesOf(conversation(name, "gemini", 2_000_000).body));
  const rounds: number[] = [];
  for (let round = 0; round < 5; round++) {
    for (const [index, name] of FORMAT_NAMES.entries())
      expect((await send(name, bodies[index] as Buffer)).status).toBe(200);
    rounds.push(residentMegabytes());
  }
  console.log(`resident: ${rounds.map((mb) => mb.toFixed(0))} MB`);
  // Kept, the bodies would be 40 MB more each round.
  expect((rounds.at(-1) as number) - (rounds[1] as number)).toBeLessThan(100);
});

function residentMegabytes(): number {
  const status = readFileSync(`/proc/${gateway.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
