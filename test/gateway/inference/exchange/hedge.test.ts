/**
 * Hedging through the whole gateway: a policy that is activated over HTTP, a first endpoint that is silent. Whoever answers is
 * the only one who is charged for; the other is left within a second; nothing stays taken.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import type { SimulatedCall } from "../../../../simulator/calls.ts";
import { type Answer, type TestGateway, testGateway } from "../../../support/gateway.ts";
import {
  atRest,
  attemptsOf,
  charges,
  metric,
  recordOf,
  requestIdOf,
  start,
} from "../../../support/observations.ts";
import { type Asked, startProvider, type TestProvider } from "../../../support/upstream/fixtures.ts";
import { equals, until } from "../../../support/wait.ts";

const GRANT_MICRO_USD = 25_000_000;

let gateway: TestGateway;
/** Answers with what the simulator says, but not before that may be: by the mark in the path. */
let patient: TestProvider;
/** Resolves when the call that is drained may be answered. */
let isDrained: Promise<void>;

const isStream = ({ body }: Pick<Asked, "body"> | SimulatedCall): boolean => body.includes('"stream":true');
const callsTo = (mark: string, stream: boolean): SimulatedCall[] =>
  gateway.simulator.calls.filter((call) => call.path.includes(mark) && isStream(call) === stream);

/** However late the machine is, the second endpoint has been asked, or has refused, before the first one answers. */
async function mayAnswer(asked: Asked): Promise<void> {
  if (asked.path.includes("drained")) return await isDrained;
  const stream = isStream(asked);
  if (asked.path.includes("thinks"))
    await until("the second is asked", () => callsTo("lonely", stream).length > 0);
  else await until("the second has refused", () => callsTo("refusing", stream).some(({ ended }) => ended));
}

beforeAll(async () => {
  patient = await startProvider();
  patient.answer = async (asked, response) => {
    await mayAnswer(asked);
    const { path, body } = asked;
    const answer = await fetch(`${gateway.simulator.url}${path}`, { method: "POST", body });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    for await (const bytes of answer.body ?? []) response.write(bytes);
    response.end();
  };
  const patientAt = (mark: string, instruction: object) =>
    `${patient.url}/with/${encodeURIComponent(JSON.stringify({ ...instruction, error_message: mark }))}/v1`;
  gateway = await testGateway({
    endpoints: [
      { provider: "silent", instruction: { fault: "hang" }, price: { input: 1, output: 2 } },
      { provider: "mute", instruction: { fault: "hang" } },
      // Its name in its path tells its calls apart.
      { provider: "lonely", instruction: { fault: "hang", error_message: "lonely" } },
      { provider: "own", credentialEnv: "HEDGE_TEST_NO_KEY", price: { input: 400, output: 800 } },
      { provider: "own-mute", credentialEnv: "HEDGE_TEST_NO_KEY", instruction: { fault: "hang" } },
      { provider: "thinks", baseUrl: patientAt("thinks", { tokens: 6 }) },
      { provider: "ponders", baseUrl: patientAt("ponders", { tokens: 6 }) },
      { provider: "drained", baseUrl: patientAt("drained", { tokens: 30, gap_ms: 5 }) },
      { provider: "quick", instruction: { tokens: 9 }, price: { input: 10, output: 20 } },
      { provider: "slow", instruction: { first_ms: 1200, tokens: 30, gap_ms: 5 } },
      { provider: "fails", instruction: { first_ms: 1000, status: 500 } },
      { provider: "refuses", instruction: { status: 400, error_message: "refusing" } },
      { provider: "translated", instruction: { tokens: 5 }, dialects: ["messages"] },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  await patient?.close();
});
afterEach(() => atRest(gateway));

let policies = 0;
/** From here on these providers' endpoints are asked in this order, the second after a silence of the first. */
async function hedge(first: string, second: string, ...others: readonly string[]): Promise<void> {
  await hedgeAfter(100, [first, second, ...others]);
}

const hedgeAfter = (hedgeAfterMs: number, order: readonly string[]): Promise<void> =>
  activate({ defaults: { order, only: order, hedge_after_ms: hedgeAfterMs } });

async function activate(document: object): Promise<void> {
  const name = `hedge-${++policies}`;
  const yaml = stringify({ version: 1, policy: name, ...document });
  const created = await gateway.call("POST", "/v1/policies", { body: { name, yaml } });
  const activated = await gateway.call("POST", `/v1/policies/${name}/activate`, { body: { version: 1 } });
  expect([created.status, activated.status]).toEqual([201, 200]);
}

const BODY = { model: "test/model", max_tokens: 40, messages: [{ role: "user", content: "Hello" }] };
const ask = (body: object = {}) => gateway.chat({ ...BODY, ...body });
const closed = () => until("all upstream calls are closed", () => gateway.simulator.openCalls, equals(0));

/** `provider outcome` of each attempt, in the order of their starts. */
const attempts = (record: { attempt_rows: readonly { provider: string; outcome: string }[] }) =>
  record.attempt_rows.map(({ provider, outcome }) => `${provider} ${outcome}`);

const costOf = ({ text }: Answer): number => Number(/"total_micro_usd":(\d+)/.exec(text)?.[1]);

/** The balance is the grant less all that the ledger has, and nothing is held. */
async function moneyIsWhole(): Promise<void> {
  const spent = [...(await charges(gateway)).values()].flat().reduce((sum, micro) => sum - micro, 0);
  expect(await gateway.balance()).toEqual({ available: GRANT_MICRO_USD - spent, held: 0 });
}

describe.each([true, false])("stream %s", (stream) => {
  test("the first is silent: the second answers, and is the only one charged", async () => {
    await hedge("silent", "quick");
    const before = (await charges(gateway)).size;
    const answer = await ask({ stream });
    await closed();
    expect(answer.status).toBe(200);
    const record = await recordOf(gateway, requestIdOf(answer));
    expect(attempts(record)).toEqual(["silent cancelled", "quick ok"]);
    expect(record).toMatchObject({ status: "ok", provider: "quick", cost_micro: costOf(answer) });
    const charged = await charges(gateway);
    expect(charged.get(requestIdOf(answer))).toEqual([-costOf(answer)]);
    expect(charged.size).toBe(before + 1);
    // At the second's price: 9 tokens at 20 micro-USD, and those of the prompt.
    expect(costOf(answer)).toBeGreaterThan(9 * 20);
    await moneyIsWhole();
  });

  test("T19: a client that leaves while two are asked: both are left, nobody is charged", async () => {
    await hedge("silent", "mute", "quick");
    const { totalCalls } = gateway.simulator;
    const controller = new AbortController();
    const started = start(gateway, { ...BODY, stream }, { signal: controller.signal });
    const gone = started.catch(() => undefined);
    await until("both calls are open", () => gateway.simulator.openCalls, equals(2));
    controller.abort();
    await closed();
    await gone;
    await atRest(gateway);
    expect(gateway.simulator.totalCalls).toBe(totalCalls + 2);
    await moneyIsWhole();
  });

  test("T21: drained, the first is read to its end and charged; the second is left", async () => {
    await hedge("drained", "silent");
    const before = await charges(gateway);
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    isDrained = promise;
    const asked = patient.asked.length;
    const controller = new AbortController();
    const svc = { on_disconnect: "drain" };
    const started = start(gateway, { ...BODY, stream, svc }, { signal: controller.signal });
    const gone = started.catch(() => undefined);
    await until(
      "both calls are open",
      () => [patient.asked.length, gateway.simulator.openCalls],
      equals([asked + 1, 1]),
    );
    controller.abort();
    await gone;
    await until("the call is drained", async () => (await metric(gateway, "weir_calls_draining")) === 1);
    goOn();
    await atRest(gateway);
    const since = [...(await charges(gateway))].filter(([id]) => !before.has(id));
    expect(since).toHaveLength(1);
    const [[id, amounts] = ["", []]] = since;
    const record = await recordOf(gateway, id);
    expect(attempts(record)).toEqual(["drained ok", "silent cancelled"]);
    expect(record).toMatchObject({ status: "cancelled", usage_source: "provider", provider: "drained" });
    expect(amounts).toEqual([-record.cost_micro]);
    await moneyIsWhole();
  });

  test("a body that a thread must write for the second: likewise", async () => {
    await hedge("silent", "translated");
    const messages = [{ role: "user", content: "word ".repeat(60_000) }];
    const answer = await ask({ stream, messages });
    await closed();
    const record = await recordOf(gateway, requestIdOf(answer));
    expect(attempts(record)).toEqual(["silent cancelled", "translated ok"]);
    expect((await charges(gateway)).get(requestIdOf(answer))).toEqual([-costOf(answer)]);
  });
});

/** Each waits for a second, with a rule of the policy of its own. */
describe("a first one that takes its time", () => {
  const ORDERS = {
    answers: ["thinks", "lonely"],
    fails: ["fails", "slow"],
    refused: ["ponders", "refuses"],
  } as const;
  const askAs = (app: keyof typeof ORDERS, stream: boolean) => ask({ stream, svc: { metadata: { app } } });

  beforeAll(() =>
    activate({
      rules: Object.entries(ORDERS).map(([app, order]) => ({
        match: { app },
        // biome-ignore lint/suspicious/noThenProperty: the word of the grammar
        then: { order, only: order, hedge_after_ms: 100 },
      })),
    }),
  );

  describe.concurrent.each([true, false])("stream %s", (stream) => {
    test("the first answers after all: the second is left, and not charged", async () => {
      const answer = await askAs("answers", stream);
      await until("the second call is closed by the gateway", () =>
        callsTo("lonely", stream).some(({ closedByPeer }) => closedByPeer),
      );
      const record = await recordOf(gateway, requestIdOf(answer));
      expect(attempts(record)).toEqual(["thinks ok", "lonely cancelled"]);
      expect((await charges(gateway)).get(requestIdOf(answer))).toEqual([-costOf(answer)]);
    });

    test("the first fails while the second is silent: it is waited for", async () => {
      const answer = await askAs("fails", stream);
      const record = await recordOf(gateway, requestIdOf(answer));
      expect([answer.status, attempts(record)]).toEqual([200, ["fails http_error", "slow ok"]]);
    });

    test("the second refuses the request: the first answers", async () => {
      const answer = await askAs("refused", stream);
      const record = await recordOf(gateway, requestIdOf(answer));
      expect([answer.status, attempts(record)]).toEqual([200, ["ponders ok", "refuses http_error"]]);
    });
  });
});

describe("with keys of the org's own", () => {
  const lines = (record: { cost: { lines: readonly { kind: string }[] } }) =>
    record.cost.lines.map(({ kind }) => kind);
  beforeAll(async () => {
    for (const provider of ["own", "own-mute"]) {
      const body = { provider, credential: `a-secret-of-${provider}` };
      const { status } = await gateway.call("POST", "/v1/provider-keys", { body });
      expect(status).toBe(201);
    }
  });

  test("an own key answers for a silent one of the gateway's: its fee is charged", async () => {
    await hedge("silent", "own");
    const answer = await ask();
    const record = await recordOf(gateway, requestIdOf(answer));
    expect(attempts(record)).toEqual(["silent cancelled", "own ok"]);
    expect(record).toMatchObject({ byok: true, cost_micro: costOf(answer) });
    expect(lines(answer.json.svc)).toEqual(["byok_fee"]);
    expect((await charges(gateway)).get(requestIdOf(answer))).toEqual([-costOf(answer)]);
  });

  test("one of the gateway's answers for a silent own one: its tokens are charged", async () => {
    await hedge("own-mute", "quick");
    const answer = await ask();
    const record = await recordOf(gateway, requestIdOf(answer));
    expect(attempts(record)).toEqual(["own-mute cancelled", "quick ok"]);
    expect(record).toMatchObject({ byok: false, cost_micro: costOf(answer) });
    expect(lines(answer.json.svc)).toEqual(["input", "output"]);
    expect((await charges(gateway)).get(requestIdOf(answer))).toEqual([-costOf(answer)]);
    await moneyIsWhole();
  });
});

test("40 at once: each is answered by the second, and charged once", async () => {
  await hedge("silent", "quick");
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => ask({ stream: at % 2 === 0 })));
  await closed();
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await atRest(gateway);
  const charged = await charges(gateway);
  for (const answer of answers) expect(charged.get(requestIdOf(answer))).toEqual([-costOf(answer)]);
  await moneyIsWhole();
  expect(await metric(gateway, "weir_upstream_keys_cooling")).toBe(0);
});

test("who answers in time is not hedged", async () => {
  await hedgeAfter(5000, ["quick", "silent"]);
  const { totalCalls } = gateway.simulator;
  const answer = await ask();
  const record = await recordOf(gateway, requestIdOf(answer));
  expect(attemptsOf(record)).toEqual(["ok 200"]);
  expect(gateway.simulator.totalCalls).toBe(totalCalls + 1);
});
