/**
 * A gateway that dies while a detached call runs, at each of its appends to the journal: after its return the stream ends, as it should or
 * with an error that says why, the call is charged once, for what its log holds, and has one record; its Idempotency-Key makes no second
 * call of one that was charged. A second return changes nothing.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import { estimateOutputTokens } from "../../../../src/wire/estimate.ts";
import {
  begin,
  idsIn,
  lastOf,
  leftAfter,
  resumed,
  said,
  wholeEvents,
  wordsIn,
} from "../../../support/detached/fixtures.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { charges, recordOf } from "../../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";
import { killAtAppend } from "../../../support/store/kill-at-append.ts";

/**
 * The row of the call, what it says (about one append each tenth of a second), and its settlement, which may be the last. A start of a
 * gateway takes a second of a processor: WEIR_CRASH_ROUNDS (`npm run test:crash`) has all of them.
 */
const ALL = ["before", "torn", "behind"].flatMap((how) => [1, 2, 3, 4, 5, 6, 7].map((at) => `${at} ${how}`));
const MOMENTS =
  process.env.WEIR_CRASH_ROUNDS === undefined
    ? ["1 before", "2 torn", "1 behind", "4 behind", "5 before"]
    : ALL;
const FORMATS = ["chat", "messages", "responses", "generate"];

/** What an upstream says, unless it says hundreds. */
const TOKENS = 10;

const KEYED = { headers: { "idempotency-key": "crash" } };

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.close());

function started(folder: string, moment?: string, tokens = TOKENS): Promise<SpawnedGateway> {
  const env = moment === undefined ? {} : killAtAppend(moment);
  const endpoints = [
    { provider: "talks", instruction: { tokens, gap_ms: 50 } },
    ...(tokens > TOKENS ? [{ provider: "fails", instruction: { first_ms: 500, status: 503 } }] : []),
  ];
  return spawnGateway({ folder, simulator, engine: false, endpoints, env });
}

/** What a client gets until the gateway dies, or the stream ends. */
async function toldUntilDeath(
  gateway: SpawnedGateway,
  format: string,
): Promise<{ readonly id: string; readonly text: string }> {
  let id = "";
  let text = "";
  try {
    const response = await begin(gateway, format, KEYED);
    id = response.headers.get("x-svc-request-id") ?? "";
    for await (const bytes of response.body as ReadableStream<Uint8Array>)
      text += Buffer.from(bytes).toString("latin1");
  } catch {
    // It died.
  }
  return { id, text: said(wholeEvents(text)) };
}

/** The same request with the same key. */
async function repeated(gateway: SpawnedGateway, format: string) {
  const response = await begin(gateway, format, KEYED);
  const text = await response.text();
  return { status: response.status, isReplay: response.headers.get("idempotent-replayed") === "true", text };
}

/** What there is of the call after a return. */
async function foundAfterReturn(folder: string, format: string, id: string, last: string | undefined) {
  const gateway = await started(folder);
  try {
    const [whole, rest] = [await resumed(gateway, id), await resumed(gateway, id, last)];
    const record = whole.status === 200 ? await recordOf(gateway, id) : undefined;
    // One that cost nothing may be made once more.
    const again = record?.cost_micro > 0 ? await repeated(gateway, format) : undefined;
    return { whole, rest, record, again, charged: [...(await charges(gateway))] };
  } finally {
    await gateway.stop();
  }
}

test.concurrent.for(
  MOMENTS.map((moment, index) => [moment, FORMATS[index % FORMATS.length] as string] as const),
)("a death at append %s of a %s stream", async ([moment, format], { onTestFinished }) => {
  const folder = mkdtempSync(join(tmpdir(), "weir-crash-"));
  onTestFinished(() => removeFolder(folder));
  const gateway = await started(folder, moment);
  process.kill(gateway.pid, "SIGUSR2");
  const told = await toldUntilDeath(gateway, format);
  await gateway.kill("SIGKILL");
  // It died before it answered: no client knows the call.
  if (told.id === "") return;
  const found = await foundAfterReturn(folder, format, told.id, String(idsIn(told.text).at(-1) ?? ""));
  const { whole, rest, record, again, charged } = found;
  // The first append, which has the row of the call, never happened.
  if (whole.status === 404) {
    expect(charged).toEqual([]);
    return;
  }
  expect(whole.status).toBe(200);
  const ids = idsIn(whole.text);
  expect(ids).toEqual(ids.map((_, index) => index));
  const isCut = whole.text.includes('"gateway_unavailable"');
  expect(record).toMatchObject(
    isCut ? { status: "error", error_code: "gateway_unavailable" } : { status: "ok", error_code: "" },
  );
  // The end reaches a client that had more than the log, with a number behind what it had.
  const joined = idsIn(told.text + rest.text);
  expect(joined).toEqual(joined.map((_, index) => index));
  expect(lastOf(told.text + rest.text)).toBe(lastOf(whole.text));
  expect(charged).toEqual(record.cost_micro === 0 ? [] : [[told.id, [-record.cost_micro]]]);
  if (again !== undefined && isCut) {
    expect(again).toMatchObject({ status: 409, text: expect.stringContaining(`/${told.id}/stream`) });
    expect(again.text).toContain("ended before the call did");
  } else if (again !== undefined) expect(again).toMatchObject({ status: 200, isReplay: true });
  // Where the provider's report was not stored, what the log holds is estimated.
  const estimated = estimateOutputTokens(Buffer.byteLength(wordsIn(whole.text)));
  expect(record.output_tokens).toBe(record.usage_source === "provider" ? TOKENS : estimated);
  expect(await foundAfterReturn(folder, format, told.id, undefined)).toMatchObject({
    whole,
    charged,
    record,
  });
});

/** When what the first upstream was asked is stored, it has not failed yet. */
const FALLS_BACK = { route: { providers: { order: ["fails", "talks"] } } };
const TALKS = { route: { providers: { only: ["talks"] } } };
/** Bodies of calls that say hundreds of events. */
const LONG: Readonly<Record<string, readonly [format: string, body: Record<string, unknown>]>> = {
  "a detached stream": ["chat", {}],
  "a background stream": ["responses", { background: true }],
};

test.concurrent.for(Object.entries(LONG))(
  "the key of %s that was killed and charged makes no second call, and its record has who answered",
  async ([, [format, body]], { onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), "weir-crash-"));
    onTestFinished(() => removeFolder(folder));
    const killed = await started(folder, undefined, 1000);
    const { id } = await leftAfter(killed, format, 10, { ...KEYED, body, svc: FALLS_BACK });
    // What was said is stored ten times a second: this takes longer.
    await (await begin(killed, "generate", { body: { max_tokens: 10 }, svc: TALKS })).text();
    await killed.kill("SIGKILL");
    const gateway = await started(folder, undefined, 1000);
    onTestFinished(() => gateway.stop());
    const record = await recordOf(gateway, id);
    const { cost_micro } = record;
    expect(cost_micro).toBeGreaterThan(0);
    expect(record).toMatchObject({
      provider: "talks",
      attempt_rows: [{ provider: "fails", http_status: 503 }],
    });
    expect(record.ttft_ms).toBeGreaterThan(0);
    const before = await charges(gateway);
    expect(before.get(id)).toEqual([-cost_micro]);
    const again = await begin(gateway, format, { ...KEYED, body, svc: FALLS_BACK });
    expect([again.status, await again.json()]).toMatchObject([
      409,
      {
        error: { code: "state", param: "Idempotency-Key", message: expect.stringContaining(`/${id}/stream`) },
      },
    ]);
    const other = await begin(gateway, format, {
      ...KEYED,
      body: { ...body, temperature: 1 },
      svc: FALLS_BACK,
    });
    expect(await other.json()).toMatchObject({ error: { code: "idempotency_mismatch" } });
    expect(await charges(gateway)).toEqual(before);
  },
);
