/**
 * Tool loops over several turns, to every upstream dialect, run by the official clients' own runners, whole and streamed.
 * The simulator refuses results without their call, calls without their results, and signatures that are not where it put
 * them.
 */
import type Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import type OpenAI from "openai";
import { ResponsesToolRunner, runnerFunction } from "openai/helpers/responses-tool-runner";
import { zodFunction, zodResponsesFunction } from "openai/helpers/zod";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { bodiesSince, clientsOf, DIALECTS, modelOf } from "./fixtures.ts";

const gateway = sharedGateway();
let openai: OpenAI;
let anthropic: Anthropic;
let sent: { count: number };
beforeAll(() => {
  ({ openai, anthropic, sent } = clientsOf(gateway));
});

const Gauge = z.object({ gauge: z.string(), hours: z.int() });
const ASK = "Which levels? [[sim tool_calls=2]]";
const RESULT = "1.4 metres, ñ水🌊";
/** What ends a loop: the simulator calls tools as long as the last thing that the user wrote says so. */
const ENOUGH = "Enough.";
const TURNS = 3;

/** Every turn brings the whole conversation, and the results of each turn stand in it. */
function expectWholeHistory(from: number): void {
  const bodies = bodiesSince(gateway, from).map((body) => JSON.stringify(body));
  expect(bodies).toHaveLength(TURNS + 1);
  for (const [turn, body] of bodies.entries()) {
    expect(body.split(RESULT).length - 1).toBe(2 * turn);
    expect(body).toContain("Which levels?");
  }
}

describe.each(DIALECTS)("to %s", (dialect) => {
  const model = modelOf(dialect);

  test.each([false, true])("T45, T46: chat, runTools, streamed: %s", async (stream) => {
    const given: unknown[] = [];
    const tools = ["read_level", "read_flow"].map((name) =>
      zodFunction({
        name,
        parameters: Gauge,
        function: (args) => {
          given.push(args);
          return RESULT;
        },
      }),
    );
    const from = gateway.simulator.totalCalls;
    let turn = 0;
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: ASK }];
    const params = { model, messages, tools };
    const options = {
      afterCompletion: (_: unknown, runner: { messages: OpenAI.ChatCompletionMessageParam[] }) => {
        if (++turn === TURNS) runner.messages.push({ role: "user", content: ENOUGH });
      },
    };
    const runner = stream
      ? openai.chat.completions.runTools({ ...params, stream }, options)
      : openai.chat.completions.runTools(params, options);
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe("stop");
    expect(final.choices[0]?.message.content).not.toBe("");
    expect(given).toHaveLength(2 * TURNS);
    for (const args of given) expect(Gauge.safeParse(args).success).toBe(true);
    const reasons = runner.allChatCompletions().map(({ choices }) => choices[0]?.finish_reason);
    expect(reasons).toEqual([...Array(TURNS).fill("tool_calls"), "stop"]);
    expectWholeHistory(from);
  });

  test.each([false, true])(
    "messages, toolRunner, streamed: %s: it asks for a thread, is told there is none, and goes on",
    async (stream) => {
      const given: unknown[] = [];
      const tools = ["read_level", "read_flow"].map((name) =>
        betaZodTool({
          name,
          description: "Of a gauge",
          inputSchema: Gauge,
          run: (args) => {
            given.push(args);
            return RESULT;
          },
        }),
      );
      const from = gateway.simulator.totalCalls;
      const asked = sent.count;
      const messages = [{ role: "user" as const, content: ASK }];
      const params = { model, max_tokens: 200, messages, tools };
      const reasons: unknown[] = [];
      const runner = anthropic.beta.messages.toolRunner({ ...params, stream: false });
      const streaming = anthropic.beta.messages.toolRunner({ ...params, stream: true });
      const end = async (
        message: Anthropic.Beta.BetaMessage,
        { pushMessages, generateToolResponse }: Pick<typeof runner, "pushMessages" | "generateToolResponse">,
      ) => {
        reasons.push(message.stop_reason);
        if (reasons.length !== TURNS) return;
        const results = await generateToolResponse();
        if (results === null) return;
        pushMessages({ role: "assistant", content: message.content }, results, {
          role: "user",
          content: ENOUGH,
        });
      };
      const handles = (of: typeof runner | typeof streaming) => ({
        pushMessages: of.pushMessages.bind(of),
        generateToolResponse: of.generateToolResponse.bind(of),
      });
      if (stream) {
        for await (const part of streaming) await end(await part.finalMessage(), handles(streaming));
      } else {
        for await (const message of runner) await end(message, handles(runner));
      }
      expect(reasons).toEqual([...Array(TURNS).fill("tool_use"), "end_turn"]);
      expect(given).toHaveLength(2 * TURNS);
      for (const args of given) expect(Gauge.safeParse(args).success).toBe(true);
      expectWholeHistory(from);
      // One request more than the provider saw: the refused thread.
      expect(sent.count - asked).toBe(TURNS + 2);
    },
  );

  test.each([false, true])("T45, T46: responses, ResponsesToolRunner, streamed: %s", async (stream) => {
    const given: unknown[] = [];
    const functions = ["read_level", "read_flow"].map((name) =>
      runnerFunction(
        zodResponsesFunction({
          name,
          parameters: Gauge,
          function: (args) => {
            given.push(args);
            return RESULT;
          },
        }),
      ),
    );
    const from = gateway.simulator.totalCalls;
    const made: string[][] = [];
    const runner = new ResponsesToolRunner({ functions });
    const params = { model, input: ASK, store: false };
    for await (const { response, step, appendUserText } of runner.iterate(openai, params, { stream })) {
      expect(response.status).toBe("completed");
      made.push(response.output.flatMap((item) => (item.type === "function_call" ? [item.name] : [])));
      expect(response.output_text === "").toBe(made.length <= TURNS);
      if (step === TURNS) appendUserText(ENOUGH);
    }
    expect(made).toEqual([...Array(TURNS).fill(["read_level", "read_flow"]), []]);
    expect(given).toHaveLength(2 * TURNS);
    for (const args of given) expect(Gauge.safeParse(args).success).toBe(true);
    expectWholeHistory(from);
  });
});
