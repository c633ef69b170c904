/**
 * A gateway that dies while a detached call runs, at each of its appends to the journal: after its return the stream ends, as it should or
 * with an error that says why, the call is charged once, for what its log holds, and has one record. A second return changes nothing.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../../simulator/simulator.ts";
import { begin, eventsIn, idsIn, resumed, said, wholeEvents } from "../../../support/detached/fixtures.ts";
import { removeFolder } from "../../../support/gateway.ts";
import { charges, recordOf } from "../../../support/observations.ts";
import { type SpawnedGateway, spawnGateway } from "../../../support/spawned-gateway.ts";

const KILL_AT_APPEND = `--import=${new URL("../../store/kill-at-append.mjs", import.meta.url)}`;
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

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.close());

function started(folder: string, moment?: string): Promise<SpawnedGateway> {
  const env = moment === undefined ? {} : { NODE_OPTIONS: KILL_AT_APPEND, WEIR_KILL_AT: moment };
  const endpoints = [{ provider: "talks", instruction: { tokens: 10, gap_ms: 50 } }];
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
    const response = await begin(gateway, format);
    id = response.headers.get("x-svc-request-id") ?? "";
    for await (const bytes of response.body as ReadableStream<Uint8Array>)
      text += Buffer.from(bytes).toString("latin1");
  } catch {
    // It died.
  }
  return { id, text: said(wholeEvents(text)) };
}

/** What there is of the call after a return. */
async function foundAfterReturn(folder: string, id: string, last: string | undefined) {
  const gateway = await started(folder);
  try {
    const [whole, rest] = [await resumed(gateway, id), await resumed(gateway, id, last)];
    const record = whole.status === 200 ? await recordOf(gateway, id) : undefined;
    return { whole, rest, record, charged: (await charges(gateway)).get(id) ?? [] };
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
  const found = await foundAfterReturn(folder, told.id, String(idsIn(told.text).at(-1) ?? ""));
  const { whole, rest, record, charged } = found;
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
  // The end reaches a client that had more than the log.
  expect(
    eventsIn(told.text + rest.text)
      .at(-1)
      ?.replace(/^id: \d+/, ""),
  ).toBe(
    eventsIn(whole.text)
      .at(-1)
      ?.replace(/^id: \d+/, ""),
  );
  expect(charged).toEqual(record.cost_micro === 0 ? [] : [-record.cost_micro]);
  expect(record.output_tokens).toBeLessThanOrEqual(10);
  expect(await foundAfterReturn(folder, told.id, undefined)).toMatchObject({ whole, charged, record });
});
