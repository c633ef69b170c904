/**
 * Every fenced example of the documents is pasted: into a shell beside a running gateway, into its configuration, into its
 * policies. An example that is not tried says where it is, or why not.
 */
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type Gateway, startGateway } from "../../../src/host/gateway/gateway.ts";
import { readConfig } from "../../../src/host/settings/config.ts";
import type { Answer } from "../../support/gateway.ts";
import { until } from "../../support/wait.ts";

const REPO = join(import.meta.dirname, "../../..");

interface Example {
  /** `docs/policies.md 2`: the second of that document. */
  readonly id: string;
  readonly language: string;
  readonly text: string;
}

const documents = [
  "README.md",
  "bench/README.md",
  "simulator/README.md",
  ...readdirSync(join(REPO, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

const examples: Example[] = documents.flatMap((path) =>
  [...readFileSync(join(REPO, path), "utf8").matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(
    ([, language = "", text = ""], at) => ({ id: `${path} ${at + 1}`, language, text }),
  ),
);

/** Why an example is not pasted here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "README.md 1": "installs and runs everything: what a fresh clone does first",
  "README.md 4": "a drawing",
  "docs/analytics.md 2": "never ends; tail.test.ts reads it",
  "docs/analytics.md 3": "never ends; test/gateway/analytics/live.test.ts reads such a stream",
  "docs/analytics.md 4": "what a refusal says; engine/analytics/statements.test.ts reads it",
  "docs/operating.md 3": "of Prometheus; metrics-access.test.ts asks as it says",
  "docs/operating.md 6": "makes and starts a demo; test/process/scripts/demo.test.ts does both",
  "docs/apps.md 1": "apps.test.ts makes the calls",
  "docs/apps.md 2": "apps.test.ts makes such a client",
  "docs/billing.md 1": "a drawing",
  "docs/long-calls.md 2": "test/process/inference/long-calls.test.ts runs it",
  "docs/long-calls.md 3": "test/process/inference/long-calls.test.ts runs it",
  "docs/long-calls.md 4": "needs the client above it; long-calls.test.ts runs it so",
  "docs/long-calls.md 5": "needs the client above it; long-calls.test.ts runs it so",
  "docs/long-calls.md 6": "test/process/inference/background.test.ts runs it",
  "docs/money.md 1": "an entry of the list; test/cells/host/lost-folder.test.ts reads such ones",
  "docs/plans.md 1": "a list of plans; test/unit/billing/subscriptions/plans-file.test.ts reads such files",
  "docs/receipts.md 1": "needs the id of a call; test/engine/money/books.test.ts gets and checks a receipt",
  "docs/receipts.md 2": "test/process/billing/receipts/receipts.test.ts checks one by OpenSSL",
  "docs/reconciliation.md 1": "test/engine/money/books.test.ts runs the command",
  "docs/scim.md 1": "needs an admin's session; scim.test.ts makes the call",
  "docs/scim.md 2": "a row of the log; scim.test.ts reads one",
  "docs/tracing.md 1": "starts a gateway; analytics/telemetry/collector.test.ts starts one so",
  "docs/webhooks.md 2": "an example of an event",
  "docs/webhooks.md 3": "test/process/account/webhooks/docs.test.ts runs it",
  "docs/webhooks.md 4": "test/process/account/webhooks/docs.test.ts runs it",
  "bench/README.md 1": "takes minutes; bench.test.ts and simulation.test.ts run small ones",
};

const textOf = (id: string): string => {
  const found = examples.find((example) => example.id === id);
  if (found === undefined) throw new Error(`there is no example ${id}`);
  return found.text;
};

const has = (program: string): boolean => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};
const missing = ["bash", "curl", "sed"].filter((program) => !has(program));

const folder = mkdtempSync(join(tmpdir(), "weir-docs-"));
let gateway: Gateway;
let simulator: Simulator;
/** What the simulator's example says. It waits for seconds: the other examples are pasted meanwhile. */
let saidBySimulator: Promise<string>;
beforeAll(async () => {
  cpSync(join(REPO, "config"), join(folder, "config"), { recursive: true });
  const providers = join(folder, "config", "providers.yaml");
  // The quirks belong to the provider that is above them in the file: to that of the first example.
  const added = ["docs/providers.md 1", "docs/providers.md 3", "docs/providers.md 2"].map(textOf).join("");
  writeFileSync(providers, `${readFileSync(providers, "utf8")}\n${added}`);
  writeFileSync(join(folder, "config", "models", "acme.yaml"), textOf("docs/providers.md 4"));
  process.env.ACME_API_KEY = "sk-acme";
  simulator = await startSimulator({});
  const env = { PORT: "0", DATA_DIR: join(folder, "data"), CONFIG_DIR: join(folder, "config") };
  gateway = await startGateway(readConfig(env), pino({ level: "silent" }));
  // The reset is told by curl's exit code, which the example does not look at.
  saidBySimulator = pasted(`set +e\n${textOf("simulator/README.md 1")}`);
  saidBySimulator.catch(() => {});
  await until("ClickHouse answers", async () => (await fetch(`${gateway.url}/v1/usage`, auth())).ok);
});
afterAll(async () => {
  delete process.env.ACME_API_KEY;
  await gateway.stop();
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
});

const keyOf = () => readFileSync(join(folder, "data", "first-key"), "utf8").trim();
const auth = () => ({ headers: { authorization: `Bearer ${keyOf()}` } });

const called = async (path: string, body: object): Promise<Answer["json"]> => {
  const headers = { ...auth().headers, "content-type": "application/json" };
  const response = await fetch(`${gateway.url}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return response.json();
};

/** What a shell in the folder of the data says; where it is served is the only thing that differs. */
async function pasted(text: string, env: Record<string, string> = {}): Promise<string> {
  const here = text
    .replaceAll("http://127.0.0.1:8787", gateway.url)
    .replaceAll("http://127.0.0.1:9999", simulator.url)
    .replaceAll("npx weir", `"${process.execPath}" "${join(REPO, "src/main.ts")}"`);
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", here], {
    cwd: folder,
    env: { ...process.env, ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

test("O30: every example is tried, here or elsewhere", () => {
  const tried = readFileSync(import.meta.filename, "utf8");
  const silent = examples.filter(
    ({ id, language }) => language !== "sql" && ELSEWHERE[id] === undefined && !tried.includes(`"${id}"`),
  );
  expect(silent.map(({ id }) => id)).toEqual([]);
  expect(Object.keys(ELSEWHERE).filter((id) => !examples.some((example) => example.id === id))).toEqual([]);
});

describe.skipIf(missing.length > 0)(`in a shell (needs bash, curl and sed; missing: ${missing})`, () => {
  test.each(["README.md 2", "README.md 5", "docs/analytics.md 1", "docs/webhooks.md 1"])(
    "O30: %s",
    async (id) => {
      const said = await pasted(textOf(id));
      expect(said).toMatch(/\S/);
      expect(said).not.toContain('"error"');
    },
  );

  test("O30: docs/long-calls.md: a call that its client leaves is read on behind its last event", async () => {
    // To leave is a failure of curl's.
    const said = await pasted(`set +e\n${textOf("docs/long-calls.md 1")}`);
    const ids = [...said.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: 64 }, (_, id) => id));
    expect(said).toMatch(/^data: \[DONE\]$/m);
  });

  test("O30: docs/policies.md, line by line", async () => {
    writeFileSync(join(folder, "house.yaml"), textOf("docs/policies.md 1"));
    const said = await pasted(textOf("docs/policies.md 2"));
    expect(said).toContain('"valid":true');
    expect(said).toContain("x-svc-route-trace: policy=house@1 rule=legal;");
    expect(said).toContain('"version":2');
    expect(said).not.toContain('"error"');
  });

  test("O30: docs/account.md, line by line, with the sessions of two people", async () => {
    const all = ["docs/account.md 1", "docs/account.md 2", "docs/account.md 3", "docs/account.md 4"];
    const more = ["docs/account.md 5", "docs/account.md 6", "docs/account.md 7"];
    const said = await pasted([...all, ...more].map(textOf).join("\n"));
    expect(said).not.toContain('"error"');
    const [me, acme, active, settings, none, first, invited, joined, seen, admin, ...later] = said
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(me.orgs).toMatchObject([{ slug: "first", role: "owner" }]);
    expect(active).toEqual({ active_org: acme.id, role: "owner" });
    expect(settings).toMatchObject({ id: acme.id, settings: { security: { session_hours: 8 } } });
    expect([none.data.length, first.data.length]).toEqual([0, 2]);
    expect([invited.role, seen.role, admin.role]).toEqual(["viewer", "viewer", "admin"]);
    const [budgeted, spending, limits, ticket, tickets, transfer, due, calledOff, closed, audit, events] =
      later;
    expect(budgeted.settings.budget).toEqual({ monthly_micro: 100_000_000, hard: true, spike_alert_pct: 50 });
    expect(spending.org).toMatchObject({
      budget: { monthly_micro: 100_000_000, hard: true },
      spend_month_micro: 0,
    });
    expect(limits).toMatchObject({ status: "approved", applied: { rpm: 4_000_000 } });
    expect(tickets.data).toEqual([ticket]);
    expect([joined.org_id, joined.role]).toEqual([acme.id, "viewer"]);
    expect(transfer).toEqual({ owner: joined.user_id, previous_owner_role: "admin" });
    expect([due.erasure_due_at, calledOff.erasure_due_at]).toEqual([expect.any(String), undefined]);
    expect(closed.status).toBe("closed");
    const acts = audit.data.map((row: { act: string }) => row.act);
    expect(acts).toEqual(expect.arrayContaining(["member.add", "member.update"]));
    expect(events.data[0].type).toBe("org.closed");
    expect(later).toHaveLength(11);
  });

  test("O30: docs/operating.md beside the running gateway", async () => {
    const said = await pasted(textOf("docs/operating.md 2"));
    expect(said).toContain('{"status":"ok"}');
    expect(said).toContain('"store":true');
    expect(said).toMatch(/^weir_store_healthy 1$/m);
    expect(said).toMatch(/^weir_descriptors_used \d+$/m);
    expect(said).toMatch(/^weir_log_lines_dropped_total 0$/m);
  });

  test("O30: docs/operating.md in front of a stopped gateway: its check, a backup restored, and a key that opens it", async () => {
    const env = {
      PORT: "0",
      DATA_DIR: join(folder, "stopped"),
      CONFIG_DIR: join(folder, "config"),
      CLICKHOUSE_URL: "http://127.0.0.1:1",
    };
    const start = () => startGateway(readConfig(env), pino({ level: "silent" }));
    await (await start()).stop();
    expect(await pasted(textOf("docs/operating.md 1"), env)).toContain("A start would succeed.");
    const copied = textOf("docs/operating.md 4")
      .replaceAll("/backups/", `${folder}/`)
      .replaceAll("/srv/weir", join(folder, "restored"));
    expect(await pasted(copied, env)).toContain("it adds up");
    expect(await pasted(textOf("docs/operating.md 5"), env)).toContain("Its secret is in ");
    const secret = readFileSync(join(folder, "operator-key"), "utf8").trim();
    const again = await start();
    const response = await fetch(`${again.url}/v1/keys`, { headers: { authorization: `Bearer ${secret}` } });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"Operator"')]);
    await again.stop();
  });

  test("O30: simulator/README.md", async () => {
    const said = await saidBySimulator;
    expect(said).toContain("HTTP/1.1 429");
    expect(said).toContain('"chat.completion"');
  });
});

test.each(["docs/policies.md 3", "docs/policies.md 4", "docs/policies.md 5"])(
  "O30: %s is a policy",
  async (id) => {
    const read = await called("/v1/policies/validate", { yaml: textOf(id) });
    expect(read).toMatchObject({ valid: true, problems: [], warnings: [] });
  },
);

test("O30: docs/providers.md as pasted: its models are there, its endpoints are planned with", async () => {
  const response = await fetch(`${gateway.url}/v1/models?vendor=acme`, auth());
  const { data } = (await response.json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id).sort()).toEqual(["acme/finder-1", "acme/rocket-2"]);
  const plan = await called("/v1/svc/dry_run", {
    model: "rocket-2",
    messages: [{ role: "user", content: "Hello" }],
  });
  expect(plan.plan.map((p: { provider: string }) => p.provider)).toContain("acme");
});

test("O30: README.md 3, with the official SDKs", async () => {
  // Each line names a client; only their modules are added.
  const lines = "README.md 3";
  const make = new Function(
    "OpenAI",
    "Anthropic",
    "process",
    `${textOf(lines)}; return { openai, anthropic };`,
  );
  const env = { WEIR_API_KEY: keyOf() };
  const text = textOf(lines);
  expect(text).toContain("http://127.0.0.1:8787");
  const here = (Client: typeof OpenAI | typeof Anthropic) =>
    function client(options: { baseURL: string; apiKey: string }) {
      return new Client({
        ...options,
        baseURL: options.baseURL.replace("http://127.0.0.1:8787", gateway.url),
      });
    };
  const { openai, anthropic } = make(here(OpenAI), here(Anthropic), { env }) as {
    openai: OpenAI;
    anthropic: Anthropic;
  };
  const messages = [{ role: "user" as const, content: "Hello" }];
  const chat = await openai.chat.completions.create({ model: "weir/sim-small", messages });
  expect(chat.choices[0]?.message.content).toMatch(/\S/);
  const message = await anthropic.messages.create({ model: "weir/sim-small", max_tokens: 20, messages });
  expect(message.content[0]).toMatchObject({ type: "text" });
});

test("O30: docs/errors.md shows the shape that an error has", async () => {
  const shown = JSON.parse(textOf("docs/errors.md 1"));
  const real = await called("/v1/chat/completions", { model: "no/model", messages: [] });
  for (const member of Object.keys(real.error)) {
    if (member !== "param") expect(Object.keys(shown.error)).toContain(member);
  }
});
