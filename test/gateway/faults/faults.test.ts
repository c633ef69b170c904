/**
 * Every fault of an upstream through the whole gateway, streamed and not, at every position of a plan: what the caller gets,
 * what is recorded of each attempt, what is charged, and that nothing stays taken.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  closedPort,
  sseData,
  type TestEndpoint,
  type TestGateway,
  testGateway,
} from "../../support/gateway.ts";
import { atRest, attemptsOf, charges, recordOf, requestIdOf, start } from "../../support/observations.ts";
import { until } from "../../support/wait.ts";
import { type Ending, FAULTS, type FaultCase } from "./cases.ts";

/** Where the faulty endpoint stands, and who stands around it. */
const SITUATIONS = {
  alone: (faulty: string) => [faulty],
  first: (faulty: string) => [faulty, "healthy"],
  "behind one that answers": (faulty: string) => ["healthy", faulty],
  "second of three": (faulty: string) => ["broken", faulty, "healthy"],
  "last of three": (faulty: string) => ["broken", "ruined", faulty],
} as const;
type Situation = keyof typeof SITUATIONS;

interface Run {
  readonly fault: FaultCase;
  readonly stream: boolean;
  readonly situation: Situation;
  /** An endpoint of its own: one run must not cool down another's. */
  readonly provider: string;
}

const RUNS: readonly Run[] = FAULTS.flatMap((fault, f) =>
  [false, true].flatMap((stream) =>
    (Object.keys(SITUATIONS) as Situation[]).map((situation, s) => ({
      fault,
      stream,
      situation,
      provider: `f${f}-${stream ? "stream" : "whole"}-${s}`,
    })),
  ),
);

interface Seen {
  readonly response: Response;
  readonly text: string;
  readonly record: Awaited<ReturnType<typeof recordOf>>;
}

const AT_ONCE = 48;

let gateway: TestGateway;
const seen = new Map<Run, Seen>();
let charged: Map<string, number[]>;

beforeAll(async () => {
  const closed = `http://127.0.0.1:${await closedPort()}/v1`;
  const endpoint = ({ provider, fault: { instruction } }: Run): TestEndpoint => ({
    provider,
    // The provider's own name in its path tells its calls apart.
    instruction: { ...instruction, error_message: `said by ${provider}` },
    ...(instruction === undefined && { baseUrl: closed }),
  });
  gateway = await testGateway({
    endpoints: [
      ...RUNS.map(endpoint),
      { provider: "healthy", instruction: { tokens: 5 } },
      { provider: "broken", instruction: { status: 500 } },
      { provider: "ruined", instruction: { status: 500 } },
    ],
    settings: {
      limits: { max_event_bytes: 200_000, max_reply_bytes: 500_000 },
      timeouts: { first_byte_ms: 5000, stall_ms: 3000, keep_alive_ms: 0 },
    },
  });
  const waiting = [...RUNS];
  // All at once would take longer to begin than a silent upstream is waited for.
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) await make(run);
    }),
  );
  await atRest(gateway);
  charged = await charges(gateway);
});
afterAll(() => gateway?.stop());

async function make(run: Run): Promise<void> {
  const { stream, situation, provider } = run;
  const order = SITUATIONS[situation](provider);
  const route = { providers: { order, only: order } };
  const response = await start(gateway, { stream, svc: { route } });
  const text = await response.text();
  seen.set(run, { response, text, record: await recordOf(gateway, requestIdOf(response)) });
}

/** What this run must end like, and its attempts. */
function expected({ fault, stream, situation }: Run): { ending: Ending; attempts: string[] } {
  const alone = stream ? fault.stream : fault.whole;
  const healthy: Ending = { status: 200, attempt: "ok 200", fallsBack: false, charged: true };
  if (situation === "behind one that answers") return { ending: healthy, attempts: ["ok 200"] };
  const before = SITUATIONS[situation]("").filter((id) => id === "broken" || id === "ruined");
  const attempts = [...before.map(() => "http_error 500 server"), alone.attempt];
  const isHelped = situation === "first" || situation === "second of three";
  if (isHelped && alone.fallsBack) return { ending: healthy, attempts: [...attempts, "ok 200"] };
  return { ending: alone, attempts };
}

const callsTo = (provider: string): number =>
  gateway.simulator.calls.filter((c) => c.path.includes(encodeURIComponent(`said by ${provider}"`))).length;

describe.each(FAULTS.map((fault) => [fault.name, fault] as const))("%s", (_, fault) => {
  test.each(
    RUNS.filter((run) => run.fault === fault).map(
      (run) => [`${run.stream ? "streamed" : "whole"}, ${run.situation}`, run] as const,
    ),
  )("%s", (_title, run) => {
    const { response, text, record } = seen.get(run) as Seen;
    const { ending, attempts } = expected(run);
    expect(attemptsOf(record)).toEqual(attempts);
    expect(response.status).toBe(ending.status);
    if (response.status !== 200) {
      expect(JSON.parse(text).error).toMatchObject({ code: ending.code, request_id: record.request_id });
    } else if (run.stream) {
      const events = sseData(text) as [...{ error?: { code: string } }[], string];
      if (ending.code === undefined) expect(events.at(-1)).toBe("[DONE]");
      else expect(events.at(-1)).toMatchObject({ error: { code: ending.code } });
    } else {
      expect(JSON.parse(text).choices[0].finish_reason).toBe("stop");
    }
    expect(record.error_code).toBe(ending.code ?? "");
    expect(record.status).toBe(ending.code === undefined ? "ok" : "error");
    // T43: one request is one charge, and no endpoint is asked twice.
    const amounts = charged.get(record.request_id) ?? [];
    expect(amounts).toHaveLength(ending.charged ? 1 : 0);
    expect(0 - (amounts[0] ?? 0)).toBe(record.cost_micro);
    expect(record.cost_micro > 0).toBe(ending.charged);
    if (ending.charged && ending.code !== undefined) expect(record.usage_source).toBe("estimated");
    if (fault.instruction !== undefined)
      expect(callsTo(run.provider)).toBe(run.situation === "behind one that answers" ? 0 : 1);
  });
});

test("T26, T65: holds, slots and places are all given back, and every upstream call is over", async () => {
  await atRest(gateway);
  await until("the simulator is idle", () => gateway.simulator.openCalls === 0);
});

test("T61: what an upstream says of a refused credential reaches neither caller nor record", () => {
  const quoted = RUNS.filter((run) => run.fault.name === "401").map((run) => seen.get(run) as Seen);
  expect(quoted).toHaveLength(10);
  for (const { text, record } of quoted) {
    expect(text).not.toContain("said by");
    expect(JSON.stringify(record)).not.toContain("said by");
  }
});

test("a refusal of the request itself keeps the upstream's message, 429 its wait", () => {
  for (const [run, { response, text }] of seen) {
    if (run.situation !== "alone") continue;
    if (["400", "422", "404"].includes(run.fault.name)) {
      expect(JSON.parse(text).error.message).toBe(`said by ${run.provider}`);
      expect(response.headers.get("x-should-retry")).toBe("false");
    }
    if (run.fault.name === "429") {
      expect(response.headers.get("retry-after")).toBe("7");
      expect(response.headers.get("retry-after-ms")).toBe("7000");
    }
  }
});

test("T12: a malformed event is left out and named in the warnings", () => {
  const runs = RUNS.filter(
    (r) =>
      r.fault.instruction?.fault === "malformed" && r.stream && r.situation !== "behind one that answers",
  );
  for (const run of runs) {
    const { text } = seen.get(run) as Seen;
    const usage = sseData(text).at(-2) as { svc: { warnings: string[] } };
    expect(usage.svc.warnings).toContain("malformed_upstream_event");
  }
});
