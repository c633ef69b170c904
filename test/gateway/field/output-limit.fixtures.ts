/** Gateways whose endpoints give fewer tokens than are asked for, and calls to them in every format. */
import { afterAll, beforeAll } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ClientName } from "../../support/conformance/ends.ts";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, type Got, startField, TARGETS, type TargetName } from "../../support/field/field.ts";

export const MOST = 32_000;
/** Four fifths of it. */
export const THINKING = 25_600;
export const ASKED = 64_000;
/** Four fifths of so few tokens are less than Claude's least budget. */
export const SHORT = 1200;

const fields: Record<number, Field> = {};

/** For the tests of the file that calls it. */
export function startLimits(): void {
  beforeAll(async () => {
    for (const max_output of [MOST, SHORT])
      fields[max_output] = await startField({ model: { context: 200_000, max_output } });
  });
  afterAll(async () => {
    for (const field of Object.values(fields)) await field.stop();
  });
}
export const fieldOf = (limit: number) => fields[limit] as Field;

export const MODES = [false, true];
const USER = { role: "user", content: "x" };
export const BODIES: Readonly<Record<ClientName, (tokens: number) => Json>> = {
  chat: (max_tokens) => ({ messages: [USER], max_tokens }),
  completions: (max_tokens) => ({ prompt: "x", max_tokens }),
  responses: (max_output_tokens) => ({ input: "x", max_output_tokens }),
  messages: (max_tokens) => ({ messages: [USER], max_tokens }),
  generate: (max_tokens) => ({ messages: [USER], generation: { max_tokens } }),
};
export const LIMIT_AT: Readonly<Record<ClientName, string>> = {
  chat: "/max_tokens",
  completions: "/max_tokens",
  responses: "/max_output_tokens",
  messages: "/max_tokens",
  generate: "/generation/max_tokens",
};

interface Asking {
  readonly stream?: boolean;
  readonly limit?: number;
  readonly tokens?: number;
  readonly options?: Json;
  readonly svc?: object;
}

/** A call for more than the endpoint gives. */
export async function ask(
  client: ClientName,
  target: TargetName,
  members: Json,
  asking: Asking = {},
): Promise<Got> {
  const { stream = false, limit = MOST, tokens = ASKED, options } = asking;
  const field = fieldOf(limit);
  field.up.script(answerOf(TARGETS[target].dialect, { text: "ok" }, stream));
  const svc = { ...(options && { provider_options: { [target]: options } }), ...asking.svc };
  const ours = client === "generate" ? svc : { svc };
  return await field.send(client, target, { ...BODIES[client](tokens), ...members, ...ours }, { stream });
}

/** In the last bytes of every answer. */
export const warningsOf = ({ text }: Got): readonly string[] =>
  JSON.parse(/"warnings":(\[[^\]]*\])/.exec(text)?.[1] ?? "[]");
export const told = (limit = MOST): Json => fieldOf(limit).up.last.json;
export const ofLimit = (client: ClientName, limit = MOST) => `lowered: ${LIMIT_AT[client]} to ${limit}`;

export const thinking = (budget_tokens: number) => ({ thinking: { type: "enabled", budget_tokens } });

/** Each way in which a dialect has a budget, and its pointer. */
export const OPTIONS: readonly (readonly [TargetName, string, (tokens: number) => Json])[] = [
  ["messages", "/thinking/budget_tokens", thinking],
  [
    "gemini",
    "/generationConfig/thinkingConfig/thinkingBudget",
    (thinkingBudget) => ({ generationConfig: { thinkingConfig: { thinkingBudget } } }),
  ],
  [
    "converse",
    "/additionalModelRequestFields/thinking/budget_tokens",
    (tokens) => ({ additionalModelRequestFields: thinking(tokens) }),
  ],
  [
    "converse",
    "/additionalModelRequestFields/reasoning_config/budget_tokens",
    (budget_tokens) => ({
      additionalModelRequestFields: { reasoning_config: { type: "enabled", budget_tokens } },
    }),
  ],
  ["responses", "/reasoning/max_tokens", (max_tokens) => ({ reasoning: { max_tokens } })],
  ["chat", "/reasoning/max_tokens", (max_tokens) => ({ reasoning: { max_tokens } })],
];
export const CLIENT_NAMES: readonly ClientName[] = ["chat", "messages", "responses", "generate"];
export const optionsAt = (client: ClientName, target: TargetName) =>
  `${client === "generate" ? "" : "/svc"}/provider_options/${target}`;
