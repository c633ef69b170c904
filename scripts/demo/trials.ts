/** A policy that tries things out, and calls that show what comes of it: a canary that warms, an experiment, a shadow, and a draft that refuses some calls. */
import type { Random } from "../../src/base/clock.ts";
import { type CallPlan, makeCalls } from "./calls.ts";
import type { ProjectSlug } from "./cast.ts";
import type { World } from "./world.ts";

/** Served by three providers of the demo. */
export const TRIAL_MODEL = "openai/gpt-oss-120b";
export const TRIAL_POLICY = "open-weights";
/** The project that it is in force for. */
const TRIAL_PROJECT: ProjectSlug = "search";
/** Enough of streams in each arm for every interval. */
const TRIAL_CALLS = 70;

interface Listed {
  readonly id: string;
  readonly provider: string;
}

/** Versions: the one in force, and a draft that a replay shows to refuse calls and to move others. */
export async function makeTrials(url: string, world: World, random: Random): Promise<void> {
  const { owner, projects, keys } = world;
  const { data } = await owner.call<{ data: Listed[] }>("GET", `/v1/models/${TRIAL_MODEL}/endpoints`);
  const at = (provider: string): string => {
    const found = data.find((each) => each.provider === provider);
    if (found === undefined) throw new Error(`${TRIAL_MODEL} is not served by ${provider}`);
    return found.id;
  };
  const trial = [
    "version: 1",
    "defaults:",
    "  sort: price",
    "rules:",
    "  - name: open weights",
    `    match: { model: "${TRIAL_MODEL}" }`,
    "    then:",
    "      experiment:",
    "        name: quicker-host",
    "        arms:",
    `          - { arm: together, endpoint: ${at("together")} }`,
    `          - { arm: groq, endpoint: ${at("groq")} }`,
    `      canary: { endpoint: ${at("fireworks")}, percent: 20, max_error_rate: 0.05, min_samples: 200 }`,
    `      shadow: { endpoint: ${at("fireworks")}, percent: 60 }`,
  ].join("\n");
  const draft = [
    "version: 1",
    "defaults:",
    "  sort: price",
    "rules:",
    "  - name: research waits",
    "    match: { app: research-app }",
    '    then: { deny: { message: "Research runs at night, by the batch queue." } }',
    "  - name: one host",
    `    match: { model: "${TRIAL_MODEL}" }`,
    `    then: { order: [${at("groq")}] }`,
  ].join("\n");
  await owner.call("POST", "/v1/policies", { name: TRIAL_POLICY, yaml: `${trial}\n` });
  await owner.call("POST", `/v1/policies/${TRIAL_POLICY}/versions`, { yaml: `${draft}\n` });
  const scope = { project_id: projects.get(TRIAL_PROJECT) };
  await owner.call("POST", `/v1/policies/${TRIAL_POLICY}/activate`, { version: 1, scope });
  const key = keys.find(({ project, environment }) => project === TRIAL_PROJECT && environment === "live");
  if (key === undefined) throw new Error(`the project ${TRIAL_PROJECT} has no live key`);
  await makeCalls(
    url,
    Array.from({ length: TRIAL_CALLS }, (_, n) => trialCall(key, n, random)),
  );
}

const trialCall = (key: CallPlan["key"], n: number, random: Random): CallPlan => ({
  path: "/v1/chat/completions",
  key,
  agent: "OpenAI/Python 3.1.0",
  body: {
    model: TRIAL_MODEL,
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: 400,
    messages: [
      { role: "user", content: `Rewrite the query: "red shoes size ${36 + Math.floor(10 * random())}"` },
    ],
    // A user stays in an arm.
    svc: { metadata: { app: "search-app", user_id: `shopper-${n}` } },
  },
});
