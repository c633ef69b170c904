/**
 * Real calls of a demo, through the gateway: of several clients and formats, streamed and whole, with tools, pictures and schemas, and
 * some that are refused. They leave records with payloads, ledger entries, budgets and a red canary.
 */
import type { Random } from "../../src/base/clock.ts";
import { AGENTS, QUESTIONS, SPENT_KEY, TEAMS } from "./cast.ts";
import { CANARY_MODEL, MODELS } from "./catalog.ts";
import type { DemoKey } from "./world.ts";

export interface CallPlan {
  readonly path: string;
  readonly key: DemoKey;
  readonly agent: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const AT_ONCE = 12;
/** Calls that show the canary's endpoint for what it is, and calls that the spent key spends its budget on. */
const CANARY_CALLS = 40;
const SPENT_CALLS = 12;
/** 4 × 4 pixels. */
const PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAQAAAAECAIAAAAmkwkpAAAAEElEQVR4nGP4z8AARwzEcQCukw/x0F8jngAAAABJRU5ErkJggg==";

const WEATHER = {
  type: "object",
  properties: { city: { type: "string" }, unit: { type: "string", enum: ["celsius", "fahrenheit"] } },
  required: ["city"],
};
const VERDICT = {
  type: "object",
  properties: { verdict: { type: "string" }, score: { type: "number", minimum: 0, maximum: 1 } },
  required: ["verdict", "score"],
  additionalProperties: false,
};

const pick = <T>(from: readonly T[], random: Random, power = 1): T =>
  from[Math.floor(from.length * random() ** power)] as T;

/** What comes before the question: prompts of a plausible length. */
const background = (random: Random): string =>
  Array.from({ length: 5 + Math.floor(60 * random() ** 3) }, () => pick(QUESTIONS, random)).join(". ");

/** @param count of the everyday calls; those that the budget and the canary need come on top */
export function planCalls(keys: readonly DemoKey[], count: number, random: Random): CallPlan[] {
  const usual = Array.from({ length: count }, () => everyday(pick(keys, random, 1.6), random));
  const checkout = keys.filter(
    ({ project, environment }) => project === "checkout" && environment === "live",
  );
  const canary = Array.from({ length: CANARY_CALLS }, () => {
    const call = chat(pick(checkout, random), random);
    return { ...call, body: { ...call.body, model: CANARY_MODEL } };
  });
  const spent = keys
    .filter(({ name }) => name === SPENT_KEY)
    .flatMap((key) => spentKeyCalls(key, SPENT_CALLS));
  return [...usual, ...canary, ...spent];
}

/** Calls of the key whose budget is used up: equal ones, as a batch makes them. */
export const spentKeyCalls = (key: DemoKey, count: number): CallPlan[] =>
  Array.from({ length: count }, () => ({
    path: "/v1/chat/completions",
    key,
    agent: "OpenAI/Python 3.1.0",
    body: {
      model: "openai/gpt-5.4",
      max_tokens: 200,
      messages: [{ role: "user", content: "Classify the next paper of the batch" }],
    },
  }));

function everyday(key: DemoKey, random: Random): CallPlan {
  const luck = random();
  if (luck < 0.12) return messages(key, random);
  if (luck < 0.22) return responses(key, random);
  if (luck < 0.27) return embeddings(key, random);
  if (luck < 0.37) return withTools(key, random);
  if (luck < 0.42) return withPicture(key, random);
  if (luck < 0.47) return withSchema(key, random);
  if (luck < 0.53) return refused(key, random);
  return chat(key, random);
}

const svcOf = (key: DemoKey, random: Random) => ({
  metadata: {
    app: `${key.project}-app`,
    user_id: `user-${Math.floor(200 * random() ** 2)}`,
    session_id: `session-${Math.floor(60 * random())}`,
    tags: { team: pick(TEAMS, random), feature: key.name.split("/")[1] ?? "" },
  },
});

const generating = MODELS.filter((id) => !id.includes("embedding"));
const inChat = generating.filter((id) => !id.startsWith("anthropic/"));

function chat(key: DemoKey, random: Random): CallPlan {
  const stream = random() < 0.6;
  return {
    path: "/v1/chat/completions",
    key,
    agent: pick(AGENTS, random, 2),
    body: {
      model: pick(inChat, random, 2),
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
      max_tokens: 400,
      messages: [
        { role: "system", content: `You are a helpful assistant of Meridian Labs. ${background(random)}` },
        { role: "user", content: pick(QUESTIONS, random) },
      ],
      svc: svcOf(key, random),
    },
  };
}

function messages(key: DemoKey, random: Random): CallPlan {
  return {
    path: "/v1/messages",
    key,
    agent: "claude-cli/2.4.1 (external, cli)",
    body: {
      model: pick(
        ["anthropic/claude-sonnet-5", "anthropic/claude-haiku-4-5", "anthropic/claude-opus-4-8"],
        random,
        2,
      ),
      stream: random() < 0.8,
      max_tokens: 1000,
      system: background(random),
      messages: [{ role: "user", content: pick(QUESTIONS, random) }],
    },
  };
}

const responses = (key: DemoKey, random: Random): CallPlan => ({
  path: "/v1/responses",
  key,
  agent: "codex_cli_rs/0.61.0",
  body: {
    model: pick(["openai/gpt-5.3-codex", "openai/gpt-5.5"], random, 2),
    stream: random() < 0.8,
    max_output_tokens: 1000,
    instructions: background(random),
    input: pick(QUESTIONS, random),
  },
});

const embeddings = (key: DemoKey, random: Random): CallPlan => ({
  path: "/v1/embeddings",
  key,
  agent: "OpenAI/Python 3.1.0",
  body: {
    model: "openai/text-embedding-3-small",
    input: Array.from({ length: 4 }, () => pick(QUESTIONS, random)),
  },
});

/** A call whose answer calls a tool, or the turn behind it, with the tool's result. */
function withTools(key: DemoKey, random: Random): CallPlan {
  const call = chat(key, random);
  const tool = { name: "get_weather", description: "Today's weather of a city", parameters: WEATHER };
  const asked = { role: "user", content: "How is the weather in Pune?" };
  const result = [
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "call_1", type: "function", function: { name: "get_weather", arguments: '{"city":"Pune"}' } },
      ],
    },
    { role: "tool", tool_call_id: "call_1", content: '{"celsius":29,"sky":"clear"}' },
  ];
  const isAnswered = random() < 0.5;
  return {
    ...call,
    body: {
      ...call.body,
      model: pick(["openai/gpt-5.4-mini", "openai/gpt-5.4", "google/gemini-3.5-flash"], random),
      tools: [{ type: "function", function: tool }],
      tool_choice: isAnswered ? "auto" : "required",
      messages: isAnswered ? [asked, ...result] : [asked],
    },
  };
}

function withPicture(key: DemoKey, random: Random): CallPlan {
  const call = chat(key, random);
  const content = [
    { type: "text", text: "What does this picture show?" },
    { type: "image_url", image_url: { url: PICTURE } },
  ];
  return {
    ...call,
    body: {
      ...call.body,
      model: pick(["google/gemini-3.5-flash", "openai/gpt-5.4-mini"], random),
      messages: [{ role: "user", content }],
    },
  };
}

function withSchema(key: DemoKey, random: Random): CallPlan {
  const call = chat(key, random);
  const response_format = {
    type: "json_schema",
    json_schema: { name: "verdict", schema: VERDICT, strict: true },
  };
  return { ...call, body: { ...call.body, model: "openai/gpt-5.4-mini", response_format } };
}

/** A model that is not there, a wrong value, a prompt that is too long. */
function refused(key: DemoKey, random: Random): CallPlan {
  const call = chat(key, random);
  const wrong = pick(
    [
      { model: "openai/gpt-6" },
      { temperature: 9 },
      { messages: "Hello" },
      { max_tokens: 0 },
      { messages: [] },
    ],
    random,
  );
  return { ...call, body: { ...call.body, ...wrong } };
}

/** Makes the calls, some at a time, each read to its end. @returns how many were answered with each status */
export async function makeCalls(url: string, plans: readonly CallPlan[]): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const waiting = [...plans];
  const work = async () => {
    for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift()) {
      const status = await make(url, plan);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return statuses;
}

async function make(url: string, plan: CallPlan): Promise<number> {
  const answer = await requestOf(url, plan);
  await answer.text();
  return answer.status;
}

export function requestOf(url: string, { path, key, agent, body }: CallPlan): Promise<Response> {
  const isMessages = path === "/v1/messages";
  return fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "user-agent": agent,
      ...(isMessages
        ? { "x-api-key": key.secret, "anthropic-version": "2023-06-01" }
        : { authorization: `Bearer ${key.secret}` }),
    },
    body: JSON.stringify(body),
  });
}
