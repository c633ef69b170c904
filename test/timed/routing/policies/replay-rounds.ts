/**
 * Replays a draft of 20 rules over recorded requests of a model with eight endpoints, on the embedded engine, and says in a line of
 * JSON what each round took. A process of its own: its heap is as large as a replay makes it. In one that has run thirty files of
 * tests, half a gigabyte waits to be collected, and each collection of new objects in it takes 15 to 25 ms of the event loop.
 */
import type { PolicyReading } from "../../../../src/routing/language/policy-reading.ts";
import { openThread } from "../../../../src/workers/thread.ts";
import { host, openTraffic, replay, replaysOf } from "../../../support/policies/replay.fixtures.ts";
import { longestTurnMs, type Spent, spent } from "../../../support/processor-time.fixtures.ts";
import { model } from "../../../support/routing/fixtures.ts";

export interface Round extends Spent {
  /** Processor time of the longest turn of the event loop. */
  readonly turnMs: number;
  readonly report: Awaited<ReturnType<typeof replay>>;
}

const ORG = "org_replay_speed";
const HOSTS = model(...Array.from({ length: 8 }, (_, i) => host(`ep_${i}`, 1000 - 100 * i, 4000 - 300 * i)));

/** 19 that look at most things a rule can look at, and one for the rest. */
const RULES = Array.from(
  { length: 19 },
  (_, i) =>
    `  - {name: r${i}, match: {app: app-${i}, model: "v/*", stream: true, min_input_tokens: ${i * 10}}, then: {sort: ${i % 2 ? "price" : "latency"}}}`,
);
const DRAFT = [
  "version: 1",
  "sort: balanced",
  "rules:",
  ...RULES,
  "  - {name: rest, match: {tag: {team: t3}}, then: {sort: price, require: {max_price: {input: 0.7}}}}",
].join("\n");

/** Over the last five hours, a few in each millisecond; every tenth fell back once. */
const insertion = (rows: number): string => `
  INSERT INTO requests (request_id, ts, org_id, project_id, key_id, environment, model, provider, endpoint_id, status,
    attempts, input_tokens, output_tokens, cache_read_tokens, usage_source, cost_micro, charged, price_version_id,
    \`cost_lines.kind\`, \`cost_lines.units\`, \`cost_lines.unit_price_nano\`, \`cost_lines.micro_usd\`,
    ttft_ms, duration_ms, bytes_in, stream, has_tools, max_tokens, route_options, session_hash, user_hash, app_id, tags,
    \`attempt_rows.endpoint_id\`, \`attempt_rows.error_class\`, \`attempt_rows.ttft_ms\`, \`attempt_rows.duration_ms\`,
    \`attempt_rows.output_tokens\`, \`attempt_rows.attempt\`, \`attempt_rows.ts\`, \`attempt_rows.provider\`,
    \`attempt_rows.pool_id\`, \`attempt_rows.key_hint\`, \`attempt_rows.outcome\`, \`attempt_rows.http_status\`,
    \`attempt_rows.upstream_code\`, \`attempt_rows.upstream_message\`)
  WITH concat('ep_', toString(number % 8)) AS at, number % 10 = 0 AS fell
  SELECT concat('01J', leftPad(toString(number), 23, '0')), now64(3, 'UTC') - toIntervalMillisecond(1000 + number * 180),
    '${ORG}', concat('prj_01J0000000000000000000000', toString(number % 5)),
    concat('key_01J0000000000000000000000', toString(number % 9)), 'live', 'v/m', concat('p-', at), at, 'ok',
    fell ? 2 : 1, 200 + number % 4000, 50 + number % 300, number % 3 = 0 ? 100 : 0, 'provider', 900 + number % 1000, true,
    concat('pv_', at), ['input', 'cache_read', 'output'], [1, 2, 3], [1, 2, 3], [1, 2, 3],
    200 + number % 400, 1500, 4000, number % 4 != 0, number % 5 = 0, number % 2 = 0 ? 1024 : 0,
    number % 7 = 0 ? '{"sort":"price"}' : '', substring(hex(sipHash64(number % 5000)), 1, 16),
    substring(hex(sipHash64(number % 900)), 1, 16), concat('app-', toString(number % 25)),
    map('team', concat('t', toString(number % 6)), 'env', 'prod'),
    fell ? ['ep_7', at] : [at], fell ? ['server', ''] : [''], fell ? [0, 250] : [200 + number % 300],
    fell ? [10, 1000] : [1000], fell ? [0, 90] : [90], fell ? [1, 2] : [1],
    fell ? [now64(3), now64(3)] : [now64(3)], fell ? ['p', 'p'] : ['p'], fell ? ['', ''] : [''], fell ? ['', ''] : [''],
    fell ? ['http_error', 'ok'] : ['ok'], fell ? [500, 200] : [200], fell ? ['', ''] : [''], fell ? ['', ''] : ['']
  FROM numbers(${rows})`;

const [requests = "", rounds = ""] = process.argv.slice(2);
const home = await openTraffic();
/** Drafts of this length are read in a thread: see `src/routing/policies/open.ts`. */
const reading = openThread(new URL("../../../../src/routing/policies/reading-thread.ts", import.meta.url));
try {
  await home.client.command({ query: insertion(Number(requests)) });
  const readPolicy = (text: string, options: object) =>
    reading.run("readInThread", { text, options }) as Promise<PolicyReading>;
  const replays = replaysOf(home.traffic, [HOSTS], { readPolicy });
  for (let round = 0; round < Number(rounds); round++) {
    let turnMs = Number.POSITIVE_INFINITY;
    let report: Round["report"] | undefined;
    const took = await spent(async () => {
      turnMs = await longestTurnMs(async () => {
        report = await replay(replays, DRAFT, { orgId: ORG });
      });
    });
    console.log(JSON.stringify({ ...took, turnMs, report }));
  }
} finally {
  await reading.close();
  await home.close();
}
