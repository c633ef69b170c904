/**
 * What the simulated Bedrock Converse refuses: conversations, fields and credentials that are not right, and reasoning
 * that does not come back as it was.
 */
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type Block, ConverseClient, MODEL, toolConfig, user } from "./converse.fixtures.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const bedrock = new ConverseClient(() => simulator.url);

describe("tools", () => {
  test.each([
    [{ any: {} }, ["open_gate"]],
    [{ tool: { name: "read_level" } }, ["read_level"]],
    [{ auto: {} }, []],
  ])("follow %j", async (toolChoice, names) => {
    const reply = await bedrock.whole(user("Hi", { toolConfig: { ...toolConfig, toolChoice } }));
    const uses = reply.output.message.content.flatMap(({ toolUse }) => (toolUse ? [toolUse.name] : []));
    expect(uses).toEqual(names);
    expect(reply.stopReason).toBe(names.length > 0 ? "tool_use" : "end_turn");
  });

  const ask = user("[[sim tool_calls=2 reasoning=3 redacted=1 require_thinking]]", { toolConfig });

  /** The conversation with its calls answered, the blocks of the turn as `change` leaves them. */
  async function answered(change: (blocks: Block[]) => Block[], keep = (results: object[]) => results) {
    const { content } = (await bedrock.whole(ask)).output.message;
    const results = content.flatMap(({ toolUse }) =>
      toolUse ? [{ toolResult: { toolUseId: toolUse.toolUseId, content: [{ json: { ok: true } }] } }] : [],
    );
    return {
      toolConfig,
      simulator: { require_thinking: true },
      messages: [
        ...ask.messages,
        { role: "assistant", content: change(structuredClone(content)) },
        { role: "user", content: keep(results) },
      ],
    };
  }

  test("are answered, with the reasoning before them as it was", async () => {
    expect((await bedrock.post(await answered((blocks) => blocks))).status).toBe(200);
    expect((await bedrock.post(await answered((blocks) => blocks), "converse-stream")).status).toBe(200);
  });

  test("without the reasoning before them are refused where told to", async () => {
    const dropped = await answered((blocks) => blocks.filter((block) => !block.reasoningContent));
    expect(await bedrock.refused(dropped)).toContain("must begin with its signed reasoning");
  });

  test.each<[string, (reasoning: NonNullable<Block["reasoningContent"]>) => void, string]>([
    [
      "a text changed",
      ({ reasoningText }) => {
        if (reasoningText) reasoningText.text += " ";
      },
      "messages.1.content.0: Invalid `signature`",
    ],
    [
      "a signature in base64url",
      ({ reasoningText }) => {
        if (reasoningText) reasoningText.signature = reasoningText.signature.replaceAll("+", "-");
      },
      "messages.1.content.0: Invalid `signature`",
    ],
    [
      "redacted content changed",
      (reasoning) => {
        if (reasoning.redactedContent)
          reasoning.redactedContent = reasoning.redactedContent.replace(/.(?==)/, "_");
      },
      "messages.1.content.1: Invalid `data`",
    ],
  ])("with %s are refused", async (_, change, message) => {
    const altered = await answered((blocks) => {
      for (const { reasoningContent } of blocks) if (reasoningContent) change(reasoningContent);
      return blocks;
    });
    expect(await bedrock.refused(altered)).toContain(message);
  });

  test("are answered all, and no others", async () => {
    const one = await answered(
      (blocks) => blocks,
      (results) => results.slice(1),
    );
    expect(await bedrock.refused(one)).toMatch(
      /^Expected toolResult blocks at messages\.2\.content for the following Ids: tooluse_/,
    );
    const stray = { toolResult: { toolUseId: "tooluse_x", content: [{ text: "ok" }] } };
    const more = await answered(
      (blocks) => blocks,
      (results) => [...results, stray],
    );
    expect(await bedrock.refused(more)).toContain("exceeds the number of toolUse blocks");
    const { toolConfig: _, ...untooled } = await answered((blocks) => blocks);
    expect(await bedrock.refused(untooled)).toContain("The toolConfig field must be defined");
  });
});

const twice = { role: "user", content: [{ text: "Hi" }] };

test.each<[object, string]>([
  [user("Hi", { max_tokens: 5 }), "extraneous key [max_tokens]"],
  [user("Hi", { inferenceConfig: { topK: 5 } }), "extraneous key [topK]"],
  [user("Hi", { inferenceConfig: { temperature: 1.5 } }), "inferenceConfig.temperature"],
  [user(" "), "The text field in the ContentBlock object at messages.0.content.0 is blank"],
  [{ messages: [{ role: "assistant", content: [{ text: "Hi" }] }] }, "must start with a user message"],
  [{ messages: [twice, twice] }, "must alternate between user and assistant roles"],
  [{ messages: [{ role: "system", content: [{ text: "Hi" }] }] }, "enum value set: [user, assistant]"],
  [{ messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] }, "must have exactly one of"],
  [{ messages: [{ role: "user", content: "Hi" }] }, "content field in the Message object"],
  [user("Hi", { toolConfig: { tools: [] } }), "toolConfig.tools"],
  [
    user("Hi", {
      inferenceConfig: { maxTokens: 1000 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2000 } },
    }),
    "`max_tokens` must be greater",
  ],
])("refuses %j", async (body, message) => {
  expect(await bedrock.refused(body)).toContain(message);
});

test("takes system, media, cache points and the fields of the model", async () => {
  const content = [
    { text: "What is this?" },
    { image: { format: "png", source: { bytes: "AAAA" } } },
    { document: { format: "pdf", name: "a report", source: { bytes: "AAAA" } } },
    { cachePoint: { type: "default", ttl: "1h" } },
  ];
  const reply = await bedrock.whole({
    messages: [{ role: "user", content }],
    system: [{ text: "Be brief." }, { cachePoint: { type: "default" } }],
    inferenceConfig: { maxTokens: 4000, topP: 0.9 },
    additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2000 }, top_k: 40 },
  });
  expect(reply.usage.inputTokens).toBe(6);
});

describe("authorization", () => {
  const sign = async (service: string) => {
    const url = new URL(`${simulator.url}${MODEL}/converse`);
    const body = JSON.stringify(user("Hi"));
    const signer = new SignatureV4({
      service,
      region: "eu-west-1",
      sha256: Sha256,
      uriEscapePath: true,
      credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret" },
    });
    const { headers } = await signer.sign({
      method: "POST",
      protocol: "http:",
      hostname: url.hostname,
      port: Number(url.port),
      path: url.pathname,
      headers: { host: url.host, "content-type": "application/json" },
      body,
    });
    return headers;
  };

  test("is a bearer token or a signature of the right shape", async () => {
    const { host: _, ...headers } = await sign("bedrock");
    expect((await bedrock.post(user("Hi"), "converse", "", headers)).status).toBe(200);
  });

  test("of another shape, for another service or day, or none, is a 403", async () => {
    const { host: _, ...other } = await sign("s3");
    const { host: __, ...dated } = await sign("bedrock");
    const attempts = [
      {},
      { authorization: "Basic a" },
      { authorization: "Bearer invalid" },
      other,
      { ...dated, "x-amz-date": "20200101T000000Z" },
    ];
    for (const headers of attempts) {
      const reply = await bedrock.post(user("Hi"), "converse", "", headers);
      expect(reply.status).toBe(403);
      expect(reply.headers.get("x-amzn-errortype")).toMatch(/^AccessDeniedException:/);
    }
  });
});
