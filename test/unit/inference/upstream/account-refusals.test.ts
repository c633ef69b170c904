/** Refusals of providers as their documentation, SDKs and users' reports show them: which are about one request, which about the account. */
import { describe, expect, test } from "vitest";
import {
  mayFallBack,
  reportedFailure,
  statusFailure,
  withoutCredential,
} from "../../../../src/inference/upstream/failure.ts";
import { refusalOf } from "../../../../src/inference/upstream/refusals/table.ts";
import { struckOut } from "../../../../src/inference/upstream/struck-out/struck-out.ts";
import { readErrorBody, readErrorValue } from "../../../../src/wire/neutral/upstream-error.ts";
import { leastProcessorMs } from "../../../support/processor-time.fixtures.ts";

const failureOf = (status: number, body: unknown) =>
  statusFailure(status, readErrorBody(Buffer.from(JSON.stringify(body))), undefined);
const openAi = (message: string, code: string | null, type: string) => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });

const TIERS = "service tier `on_demand` on tokens per minute (TPM): Limit 6000,";

describe("O26: a request that is too large for the account", () => {
  test.each([
    [
      "OpenAI",
      429,
      openAi(
        "Request too large for gpt-4o in organization org-VDAWofJASuLH0vVz8o9tiQZr on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.",
        "rate_limit_exceeded",
        "tokens",
      ),
    ],
    [
      "Groq, 413",
      413,
      openAi(
        `Request too large for model \`llama-3.1-8b-instant\` in organization \`org_01kgg5588eftc8k70aes4864eb\` ${TIERS} Requested 12328, please reduce your message size and try again.`,
        "rate_limit_exceeded",
        "tokens",
      ),
    ],
    [
      "Groq, 429 by its numbers",
      429,
      openAi(`Rate limit: ${TIERS} Used 12, Requested 6,001.`, null, "tokens"),
    ],
    ["Anthropic", 429, anthropic("rate_limit_error", "Extra usage is required for long context requests.")],
  ])("%s: is the request's fault there, other endpoints may take it", (_, status, body) => {
    const failed = failureOf(status, body);
    expect(failed.errorClass).toBe("client");
    expect(mayFallBack(failed)).toBe(true);
  });

  test("is also recognised in a stream's error event", () => {
    const error = readErrorValue(
      openAi("Request too large for m: Limit 10, Requested 20", "rate_limit_exceeded", "tokens").error,
    );
    expect(reportedFailure(error, 200)).toMatchObject({ outcome: "rate_limited", errorClass: "client" });
  });

  test("413 for another reason is refused by every endpoint", () => {
    expect(
      mayFallBack(failureOf(413, anthropic("request_too_large", "Request exceeds the maximum size"))),
    ).toBe(false);
  });
});

describe("O26: an account without funds", () => {
  test.each([
    ["OpenAI", 429, openAi("You exceeded your current quota.", "insufficient_quota", "insufficient_quota")],
    ["OpenAI, older", 429, openAi("You exceeded your current quota.", null, "insufficient_quota")],
    [
      "OpenAI, its own limit",
      400,
      openAi("Billing hard limit has been reached", "billing_hard_limit_reached", "x"),
    ],
    [
      "Moonshot",
      429,
      { error: { type: "exceeded_current_quota_error", message: "Your account is not active" } },
    ],
    [
      "xAI",
      429,
      {
        code: "Some resource has been exhausted",
        error:
          "Your team 16f2151a-40f4-4a80-8ad0-cae00c27e8dd has either used all available credits or reached its monthly spending limit.",
      },
    ],
    [
      "Anthropic, under 400",
      400,
      anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    ],
  ])("%s: is as a refused credential", (_, status, body) => {
    const failed = failureOf(status, body);
    expect(failed.errorClass).toBe("auth");
    expect(mayFallBack(failed)).toBe(true);
  });
});

describe("O26: too many calls now", () => {
  test.each([
    [
      "OpenAI",
      openAi(
        "Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29937, Requested 385. Please try again in 644ms.",
        "rate_limit_exceeded",
        "tokens",
      ),
    ],
    [
      "Anthropic",
      anthropic(
        "rate_limit_error",
        "This request would exceed the rate limit for your organization of 20,000 input tokens per minute.",
      ),
    ],
    [
      "Azure",
      {
        error: {
          code: "429",
          message:
            "Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-08-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 7 seconds.",
        },
      },
    ],
    [
      "Google, whose daily words are those of OpenAI's empty accounts",
      {
        error: {
          code: 429,
          status: "RESOURCE_EXHAUSTED",
          message: "You exceeded your current quota, please check your plan and billing details.",
        },
      },
    ],
    ["Bedrock", { message: "Too many tokens, please wait before trying again." }],
    [
      "Mistral",
      {
        object: "error",
        message: "Service tier capacity exceeded for this model.",
        type: "service_tier_capacity_exceeded",
        code: "3505",
      },
    ],
    ["nothing readable", "busy"],
  ])("%s: is saturation", (_, body) => {
    expect(failureOf(429, body)).toMatchObject({ outcome: "rate_limited", errorClass: "capacity" });
  });

  test("Google's retry time is in the details", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "20.04466179s" }];
    const body = { error: { code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota", details } };
    expect(failureOf(429, body).retryAfterMs).toBe(20_045);
    expect(failureOf(429, [body]).retryAfterMs).toBe(20_045);
    // A header goes before it; nonsense is as none.
    const error = readErrorBody(Buffer.from(JSON.stringify(body)));
    expect(statusFailure(429, error, 500).retryAfterMs).toBe(500);
    const odd = { error: { ...body.error, details: [{ retryDelay: "soon" }, null, 7] } };
    expect(failureOf(429, odd).retryAfterMs).toBeUndefined();
  });

  test("the caller's text in a message cannot trigger a refusal: it comes after the provider's words", () => {
    const echoed = openAi("Invalid value: 'Your credit balance is too low'", null, "invalid_request_error");
    expect(failureOf(400, echoed).errorClass).toBe("client");
    expect(refusalOf(400, { code: "", type: "", message: "no: Request too large for m" })).toBeUndefined();
  });
});

describe("O26, T61: what names the gateway's account", () => {
  test.each([
    ["in organization org-VDAWofJASuLH0vVz8o9tiQZr on tokens", "in organization [account] on tokens"],
    ["in organization `org_01kgg5588eftc8k70aes4864eb` service", "in organization `[account]` service"],
    [
      "rate limit for your organization (a22cf6e6-a940-4fff-8c4c-1580816ac7be) of 1,000,000 input",
      "rate limit for your organization ([account]) of 1,000,000 input",
    ],
    ["Your team 16f2151a-40f4-4a80-8ad0-cae00c27e8dd has", "Your team [account] has"],
    ["for consumer 'project_number:123456789012'.", "for consumer 'project_number:[account]'."],
    ["arn:aws:bedrock:us-east-1:123456789012:inference-profile/x is busy", "[account] is busy"],
    ["projects/my-prod-42/locations/us", "[account]/locations/us"],
    ["Incorrect API key provided: sk-abc***********wxyz.", "Incorrect API key provided: [credential]."],
    [
      "your organization of 20,000 input tokens per minute",
      "your organization of 20,000 input tokens per minute",
    ],
    [
      "Limit 30000, Requested 36278. The project is busy",
      "Limit 30000, Requested 36278. The project is busy",
    ],
    ["file_0123456789 of message 12 cannot be read", "file_0123456789 of message 12 cannot be read"],
    [
      "user_messages and user-specified tools: see project-settings",
      "user_messages and user-specified tools: see project-settings",
    ],
    [
      "`user_information.address` is **key**, not **keyword**",
      "`user_information.address` is **key**, not **keyword**",
    ],
    [
      "rate limit of 30,000 (org: a22cf6e6-a940-4fff, model: m)",
      "rate limit of 30,000 (org: [account], model: m)",
    ],
    [
      '{"organization_id":"a22cf6e6-a940"} of account_id=123456789012',
      '{"organization_id":"[account]"} of account_id=[account]',
    ],
    ["gateway@my-prod-42.iam.gserviceaccount.com is over its quota", "[account] is over its quota"],
    ["API key sk-a*** and key-*** and sk**wxyz", "API key [credential] and [credential] and [credential]"],
  ])("%s", (message, told) => {
    expect(struckOut(message)).toBe(told);
    const failed = statusFailure(400, { code: "", type: "", message }, undefined);
    expect(withoutCredential(failed, undefined).upstream.message).toBe(told);
  });

  test("O26: is no longer than a code or a message is", () => {
    const long = { code: "c".repeat(50_000), type: "t".repeat(50_000), message: "m".repeat(50_000) };
    for (const told of [
      readErrorValue(long),
      readErrorBody(Buffer.from(JSON.stringify({ ...long, error: "e" }))),
    ]) {
      expect(told.code.length).toBeLessThanOrEqual(200);
      expect(told.type.length).toBeLessThanOrEqual(200);
      expect(told.message.length).toBeLessThanOrEqual(2000);
    }
  });

  test("O26: a credential that the message's bound cuts in two is not told in part", () => {
    const key = "secret-0123456789abcdef";
    const said = (before: number) => `${"x ".repeat(before / 2)}${key} is busy`;
    for (let cut = 1; cut <= key.length + 1; cut++) {
      const { error } = openAi(said(2000 - cut), "rate_limit_exceeded", "tokens");
      const failed = statusFailure(429, readErrorValue(error), undefined);
      const { message } = withoutCredential(failed, key).upstream;
      expect(message).not.toMatch(/secret-0/);
    }
  });

  test("is recognised quickly in any text", () => {
    const texts = ["organization ", "org-", "sk-*", "projects/", "limit 1, used 1, ", "arn:aws:"].map((t) =>
      t.repeat(300).slice(0, 2000),
    );
    const cpuMs = leastProcessorMs(() => {
      for (const text of texts) {
        struckOut(text);
        refusalOf(429, { code: "", type: "", message: text });
      }
    });
    expect(cpuMs).toBeLessThan(200);
  });
});
