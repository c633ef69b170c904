/** Endpoints, orgs' routes and policies of the tests of fitted and waiting holds. */
import { stringify } from "yaml";
import type { TestGateway } from "../../support/gateway.ts";

/** Micro-USD a token. */
export const OUTPUT = 15;

/** The turns of a call whose answer may be long. */
export const NOVEL = [{ role: "user", content: "Write a novel." }];

export const DIALECTS = ["chat", "messages", "responses", "gemini", "converse"] as const;

/** By the upstream's dialect: a call of 64,000 tokens, and the place at which its limit is told. */
export const ROUTES: Readonly<
  Record<(typeof DIALECTS)[number], { path: string; body: object; limit: string }>
> = {
  chat: { path: "/v1/completions", body: { prompt: "Write.", max_tokens: 64_000 }, limit: "max_tokens" },
  messages: {
    path: "/v1/messages",
    body: { messages: NOVEL, max_tokens: 64_000 },
    limit: "max_tokens",
  },
  responses: {
    path: "/v1/responses",
    body: { input: "Write.", max_output_tokens: 64_000, store: false },
    limit: "max_output_tokens",
  },
  gemini: {
    path: "/v1/responses",
    body: { input: "Write.", max_output_tokens: 64_000, store: false },
    limit: "generationConfig.maxOutputTokens",
  },
  converse: {
    path: "/v1/svc/generate",
    body: { messages: NOVEL, generation: { max_tokens: 64_000 } },
    limit: "inferenceConfig.maxTokens",
  },
};

/** An endpoint with long answers. @param provider its name, by which `only` picks it */
export const at = (provider: string, more: object = {}) => ({
  provider,
  price: { input: 1, output: OUTPUT },
  entry: { context: 200_000, max_output: 100_000 },
  ...more,
});

/** A call's route: these, in their order. */
export const only = (...order: string[]) => ({ route: { providers: { order, only: order } } });

/** The org of a key routes by these defaults from now on. @throws Error where the policy is refused */
export async function routeBy(
  gateway: Pick<TestGateway, "call">,
  key: string,
  name: string,
  defaults: object,
): Promise<void> {
  const yaml = stringify({ version: 1, policy: name, defaults });
  const created = await gateway.call("POST", "/v1/policies", { body: { name, yaml }, key });
  if (created.status !== 201) throw new Error(created.text);
  const body = { version: 1 };
  const active = await gateway.call("POST", `/v1/policies/${name}/activate`, { body, key });
  if (active.status !== 200) throw new Error(active.text);
}

/** Id of a provider's endpoint of `test/model`. */
export async function endpointOf(
  gateway: Pick<TestGateway, "call">,
  key: string,
  provider: string,
): Promise<string> {
  const { json } = await gateway.call("GET", "/v1/models/test/model/endpoints", { key });
  return json.data.find(({ id }: { id: string }) => id.startsWith(`ep_${provider}_`)).id;
}
