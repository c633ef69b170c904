/**
 * The official `openai` client against the simulated provider, and the provider in a process of its own.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const withPath = (instruction: object) => `/with/${encodeURIComponent(JSON.stringify(instruction))}`;

describe("the official client", () => {
  const client = (path = "") =>
    new OpenAI({ apiKey: "sk-test", baseURL: `${simulator.url}${path}/v1`, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "What is a weir?" }];

  test("lists models", async () => {
    const ids = (await client().models.list()).data.map((model) => model.id);
    expect(ids).toContain("sim-small");
  });

  test("completes", async () => {
    const reply = await client().chat.completions.create({ model: "sim-small", messages });
    expect(reply.usage?.completion_tokens).toBe(16);
    expect(reply.choices[0]?.finish_reason).toBe("stop");
  });

  test("streams with include_usage", async () => {
    const stream = await client().chat.completions.create({
      model: "sim-small",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: OpenAI.CompletionUsage | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage;
    }
    expect(text.split(" ")).toHaveLength(16);
    expect(usage?.total_tokens).toBe(20);
  });

  test("assembles streamed tool calls", async () => {
    const runner = client().chat.completions.stream({
      model: "sim-small",
      messages,
      tool_choice: "required",
      tools: [
        {
          type: "function",
          function: { name: "level", parameters: { type: "object", properties: { at: { type: "string" } } } },
        },
      ],
    });
    const final = await runner.finalChatCompletion();
    const call = final.choices[0]?.message.tool_calls?.[0];
    expect(call?.type === "function" && JSON.parse(call.function.arguments)).toEqual({
      at: expect.any(String),
    });
  });

  test("sees the class of an error, and an error inside a stream", async () => {
    const busy = client(withPath({ status: 429 })).chat.completions.create({ model: "m", messages });
    await expect(busy).rejects.toBeInstanceOf(OpenAI.RateLimitError);
    const stream = await client(withPath({ fault: "error_mid", after: 2 })).chat.completions.create({
      model: "m",
      messages,
      stream: true,
    });
    const read = async () => {
      let count = 0;
      for await (const _ of stream) count++;
      return count;
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
  });
});

test("runs alone, says where, and ends on SIGTERM with 0", async () => {
  const child = spawn(process.execPath, ["simulator/main.ts", "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const base = /http:\S+/.exec(line.toString())?.[0] ?? "";
  expect((await fetch(`${base}/models`)).status).toBe(200);
  child.kill("SIGTERM");
  expect((await once(child, "exit"))[0]).toBe(0);
});
