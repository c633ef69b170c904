/**
 * Makes the data folder that a release keeps as a fixture: `node test/releases/make.ts 0.1.0`, run with the code of that release. Its
 * first life ends as it should; the second is killed, so that rows lie in the journal, and records in the outbox. Beside the folder
 * lies what its routes answered then.
 *
 * Commits between releases that somebody runs have one too, made in the same way by their own code: 9f068ca, from before this file, by
 * the first form of it (in 0c0ea5be) on that commit's fixtures; adeee8f and 1d25451 by their own.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { signInAt } from "../support/console.fixtures.ts";
import { removeFolder } from "../support/gateway.ts";
import { type SpawnedGateway, spawnGateway } from "../support/spawned-gateway.ts";
import { until } from "../support/wait.ts";
import { type Expected, READS, releaseOptions } from "./release.ts";

const [version = ""] = process.argv.slice(2);
if (!/^(\d+\.\d+\.\d+|[0-9a-f]{7})$/.test(version))
  throw new Error("usage: node test/releases/make.ts VERSION|COMMIT");

const POLICY = `version: 1
defaults:
  canary: { endpoint: ep_trial_sim-test_local, percent: 50, max_error_rate: 0.5, min_samples: 4 }
`;
const hello = { model: "test/model", max_tokens: 20, messages: [{ role: "user", content: "Hello." }] };
const once = { body: { ...hello, user: "once" }, headers: { "idempotency-key": "once" } };

async function must(answer: Promise<{ status: number; text: string; json: unknown }>, what: string) {
  const { status, text, json } = await answer;
  if (status >= 300) throw new Error(`${what}: ${status} ${text}`);
  return { text, json: json as { id: string; secret: string } };
}

/** Some calls of each kind. Returns their ids. */
async function calls(gateway: SpawnedGateway): Promise<string[]> {
  const ids: string[] = [];
  for (const stream of [false, true, false, true]) {
    const { headers, text } = await gateway.call("POST", "/v1/chat/completions", {
      body: { ...hello, stream },
    });
    if (!text.includes("content")) throw new Error(text);
    ids.push(headers.get("x-svc-request-id") ?? "");
  }
  return ids;
}

/** A key whose calls cost more than its budget of the day, so that it is noted among those near their end. Returns its id. */
async function usedUpKey(gateway: SpawnedGateway): Promise<string> {
  const budget = { daily_micro: 60, hard: false };
  const key = await must(gateway.call("POST", "/v1/keys", { body: { name: "used up", budget } }), "used up");
  const { id, secret } = key.json;
  for (let n = 0; n < 4; n++)
    await must(gateway.call("POST", "/v1/chat/completions", { body: hello, key: secret }), "a call");
  return id;
}

/** The owner's key of the playground, which made a call. Returns its secret. */
async function playgroundSecret(gateway: SpawnedGateway, projectId: string): Promise<string> {
  // On loopback the first org is whose who signs in first.
  const owner = await signInAt(gateway.url, { email: "owner@example.com" });
  const asked = owner.call("POST", "/v1/playground/key", { body: { project_id: projectId } });
  const { secret } = (await must(asked, "playground")).json;
  await must(gateway.call("POST", "/v1/chat/completions", { body: hello, key: secret }), "a try");
  return secret;
}

/** Pays a top-up on the page of the simulated payment service. Returns its id. */
async function topUp(gateway: SpawnedGateway, amountMinor: number): Promise<string> {
  const body = { amount_minor: amountMinor };
  const opened = await must(gateway.call("POST", "/v1/credits/topups", { body }), "top-up");
  const { topup, checkout_url: page } = opened.json as unknown as {
    topup: { id: string };
    checkout_url: string;
  };
  await fetch(page, { method: "POST", body: new URLSearchParams({ act: "pay" }), redirect: "manual" });
  const path = `/v1/credits/topups/${topup.id}`;
  await until("the top-up is paid", async () => (await gateway.call("GET", path)).json.status === "paid");
  return topup.id;
}

const folder = mkdtempSync(join(tmpdir(), "weir-release-"));
try {
  let gateway = await spawnGateway({ ...releaseOptions, folder, engine: false });
  const post = (path: string, body: unknown) => must(gateway.call("POST", path, { body }), path);
  const project = await post("/v1/projects", { slug: "second", name: "Second" });
  const key = await post("/v1/keys", {
    name: "limited",
    project_id: project.json.id,
    limits: { rpm: 100 },
    budget: { daily_micro: 1_000_000, hard: true },
  });
  await post("/v1/provider-keys", { provider: "owned", name: "own", credential: "sk-of-the-org" });
  // Nothing listens there.
  await post("/v1/webhooks", { url: "http://127.0.0.1:9/hook", events: ["key.created"] });
  await post("/v1/policies", { name: "house", yaml: POLICY });
  await post("/v1/policies/house/activate", { version: 1 });
  const topups = [await topUp(gateway, 10_000)];
  await post(`/v1/credits/topups/${topups[0]}/refund`, { amount_minor: 1_000, idempotency_key: "part" });
  await post("/v1/billing/subscription", { plan_id: "paid" });
  // Nobody pays it.
  await post("/v1/credits/topups", { amount_minor: 2_000 });
  const usedUpId = await usedUpKey(gateway);
  const playground = await playgroundSecret(gateway, project.json.id);
  const requestIds = await calls(gateway);
  // Its record has what the client was told.
  const failed = await gateway.call("POST", "/v1/chat/completions", {
    body: { ...hello, messages: [{ role: "user", content: "[[sim status=500]]" }] },
  });
  requestIds.push(failed.headers.get("x-svc-request-id") ?? "");
  const repeated = (await must(gateway.call("POST", "/v1/chat/completions", once), "once")).text;
  const response = await post("/v1/responses", { model: "test/model", input: "Keep me.", store: true });
  await gateway.stop();

  gateway = await spawnGateway({ ...releaseOptions, folder, engine: false });
  requestIds.push(...(await calls(gateway)));
  topups.push(await topUp(gateway, 3_000));
  await post(`/v1/credits/topups/${topups[1]}/refund`, { amount_minor: 500, idempotency_key: "part" });
  // The keys of receipts are made by whoever first asks for them.
  await must(gateway.call("GET", "/.well-known/jwks.json"), "keys of receipts");
  const responseId = response.json.id;
  const reads: Record<string, unknown> = {};
  for (const path of READS({ requestIds, responseId, topups, usedUpId })) {
    reads[path] = (await must(gateway.call("GET", path), path)).json;
  }
  const expected: Expected = {
    madeAtMs: Date.now(),
    secrets: { live: gateway.liveKey, test: gateway.testKey, limited: key.json.secret, playground },
    once,
    repeated,
    requestIds,
    responseId,
    topups,
    usedUpId,
    reads,
  };
  await gateway.kill("SIGKILL");
  await gateway.simulator.close();
  writeFileSync(join(folder, "expected.json"), JSON.stringify(expected, null, 1));
  const out = join(import.meta.dirname, `${version}.tar.gz`);
  rmSync(out, { force: true });
  execFileSync("tar", ["-czf", out, "-C", folder, "data", "expected.json"]);
} finally {
  removeFolder(folder);
}
