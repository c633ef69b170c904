/** A whole gateway in front of a scripted upstream: a model for each dialect, and one for each upstream model that code tells apart. */
import { type Json, sseEvents } from "../conformance/ask.ts";
import type { ChatUpstreamName, ClientName } from "../conformance/ends.ts";
import { CLIENTS } from "../conformance/pairs.ts";
import { type GatewayOptions, type TestEndpoint, type TestGateway, testGateway } from "../gateway.ts";
import { ScriptedUpstream } from "./upstream.ts";

export interface Target {
  readonly dialect: ChatUpstreamName;
  readonly upstreamModel: string;
}

/** The model `test/<name>` is each of these, and its provider has that name too. The first of a dialect has the dialect's name. */
export const TARGETS = {
  chat: { dialect: "chat", upstreamModel: "gpt-4.1" },
  "chat-reasoning": { dialect: "chat", upstreamModel: "gpt-5" },
  responses: { dialect: "responses", upstreamModel: "gpt-4.1" },
  "responses-reasoning": { dialect: "responses", upstreamModel: "gpt-5" },
  messages: { dialect: "messages", upstreamModel: "claude-sonnet-4-5" },
  "messages-adaptive": { dialect: "messages", upstreamModel: "claude-opus-4-8" },
  gemini: { dialect: "gemini", upstreamModel: "gemini-2.5-flash" },
  "gemini-3": { dialect: "gemini", upstreamModel: "gemini-3-pro-preview" },
  converse: { dialect: "converse", upstreamModel: "anthropic.claude-sonnet-4-5-v1:0" },
  "converse-nova": { dialect: "converse", upstreamModel: "amazon.nova-pro-v1:0" },
} as const satisfies Readonly<Record<string, Target>>;

export type TargetName = keyof typeof TARGETS;

export const ALL_TARGETS = Object.keys(TARGETS) as readonly TargetName[];

/** What the client got. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Undefined for a stream. */
  readonly json: Json;
  /** Data of a stream's events, but for `[DONE]`. */
  readonly events: readonly Json[];
}

export interface Field {
  readonly gateway: TestGateway;
  readonly up: ScriptedUpstream;
  /**
   * Sends a body in a client's format.
   * @param body JSON text is sent as it is, but for the members `model` and `stream`, which are put first where it lacks them
   */
  send(
    client: ClientName,
    to: TargetName,
    body: object | string,
    options?: { readonly stream?: boolean },
  ): Promise<Got>;
  stop(): Promise<void>;
}

export interface FieldOptions extends Omit<GatewayOptions, "endpoints"> {
  /** Models `test/<name>` beside those of {@link TARGETS}, each by its dialect. */
  readonly further?: readonly (readonly [name: string, dialect: ChatUpstreamName])[];
}

/** @param options of the gateway beside the upstream: settings, plans … */
export async function startField({ further = [], ...options }: FieldOptions = {}): Promise<Field> {
  const up = await ScriptedUpstream.start();
  const gateway = await testGateway({
    ...options,
    model: {
      capabilities: ["tools", "parallel_tools", "json_schema", "reasoning", "cache"],
      ...options.model,
    },
    endpoints: [
      ...Object.entries(TARGETS).map(([name, target]) => endpointOf(up.url, name, target)),
      ...further.map(([name, dialect]) => endpointOf(up.url, name, TARGETS[dialect])),
    ],
  });
  return {
    gateway,
    up,
    async send(client, to, body, { stream = false } = {}) {
      const { path, headers } = CLIENTS[client];
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const sent = withFirst(text, { model: modelOf(to), ...(stream && { stream }) });
      const answer = await gateway.call("POST", path, { body: sent, headers });
      const events = answer.json === undefined ? sseEvents(answer.text) : [];
      const data = events.filter((event) => event.data !== "[DONE]");
      return { ...answer, events: data.map((event): Json => JSON.parse(event.data)) };
    },
    async stop() {
      await gateway.stop();
      await up.close();
    },
  };
}

const endpointOf = (upstreamUrl: string, name: string, { dialect, upstreamModel }: Target): TestEndpoint => ({
  model: `test/${name}`,
  provider: name.replaceAll(".", "-"),
  baseUrl: `${upstreamUrl}/${name}/${dialect === "gemini" ? "v1beta" : "v1"}`,
  dialects: [dialect],
  entry: { upstream_model: upstreamModel },
});

export const modelOf = (target: TargetName): string => `test/${target}`;

function withFirst(object: string, members: Readonly<Record<string, unknown>>): string {
  const own: object = JSON.parse(object);
  const lacking = Object.entries(members).filter(([name]) => !Object.hasOwn(own, name));
  const first = lacking.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  if (Object.keys(own).length > 0) first.push("");
  return object.trimStart().replace("{", () => `{${first.join(",")}`);
}
