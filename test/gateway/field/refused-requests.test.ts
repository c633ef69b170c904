/** What else a provider may refuse of a request, and what the client is told: a code, the field where it is known, the provider's words. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../support/conformance/ask.ts";
import type { ClientName } from "../../support/conformance/ends.ts";
import { CLIENTS } from "../../support/conformance/pairs.ts";
import { type Field, startField } from "../../support/field/field.ts";
import { ASKING } from "../../support/field/overflows.ts";

interface Refused {
  readonly name: string;
  readonly body: object;
  readonly status?: number;
  /** Members of the client's body, by which the provider's `param` can be told. */
  readonly asks?: Partial<Readonly<Record<ClientName, object>>>;
  readonly code: string;
  readonly params?: Partial<Readonly<Record<ClientName, string>>>;
  readonly says: string;
  readonly heard?: number;
}

const openai = (message: string, code: string | null, param: string | null = null) => ({
  error: { message, type: "invalid_request_error", param, code },
});

const TOO_MANY =
  "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.";
const UNKNOWN = "Unsupported parameter: 'temperature' is not supported with this model.";
const POLICY = "Your request was rejected as a result of our safety system.";
const NO_MODEL = "The model `gpt-9` does not exist or you do not have access to it.";

const LIMITS: Readonly<Record<ClientName, string>> = {
  chat: "/max_completion_tokens",
  completions: "/max_tokens",
  responses: "/max_output_tokens",
  messages: "/max_tokens",
  generate: "/generation/max_tokens",
};

const REFUSED: readonly Refused[] = [
  {
    name: "a limit of the answer above what the model gives",
    body: openai(TOO_MANY, "invalid_value", "max_tokens"),
    asks: { chat: { max_completion_tokens: 500 }, generate: { generation: { max_tokens: 500 } } },
    code: "invalid_value",
    params: LIMITS,
    says: TOO_MANY,
  },
  {
    name: "a parameter that the model does not know",
    body: openai(UNKNOWN, "unsupported_parameter", "temperature"),
    asks: { chat: { temperature: 1 }, messages: { temperature: 1 }, responses: { temperature: 1 } },
    code: "unsupported_parameter",
    params: { chat: "/temperature", messages: "/temperature", responses: "/temperature" },
    says: UNKNOWN,
  },
  {
    name: "a prompt that the provider's policy forbids",
    body: openai(POLICY, "content_policy_violation"),
    code: "content_policy_violation",
    says: POLICY,
  },
  {
    name: "a model that the provider does not know",
    body: openai(NO_MODEL, "model_not_found"),
    status: 404,
    code: "upstream_rejected",
    says: NO_MODEL,
    heard: 404,
  },
];

let field: Field;
beforeAll(async () => {
  field = await startField();
});
afterAll(() => field.stop());

describe.each(REFUSED)("$name", ({ body, status = 400, asks = {}, code, params = {}, says, heard = 400 }) => {
  test.each(Object.keys(CLIENTS) as ClientName[])("%s", async (client) => {
    for (const stream of [false, true]) {
      field.up.script({ status, body: JSON.stringify(body) });
      const got = await field.send(client, "chat", { ...ASKING[client], ...asks[client] }, { stream });
      expect(got.status, got.text).toBe(heard);
      const error: Json = CLIENTS[client].errorOf(got.json);
      expect(error).toMatchObject({ code, message: says });
      expect(error.param ?? undefined).toBe(params[client]);
      if (client === "messages") {
        expect(error.type).toBe(heard === 404 ? "not_found_error" : "invalid_request_error");
      }
      expect(got.headers.get("x-should-retry")).toBe("false");
    }
  });
});
