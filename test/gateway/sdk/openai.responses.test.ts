/**
 * The official `openai` client's responses, through the gateway to every upstream dialect: typed items and events, the
 * stream helper, structured output, and what is kept of an answer so that it can be asked for again and continued.
 */
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedGateway } from "../../support/shared-gateway.ts";
import {
  bodiesSince,
  clientsOf,
  collect,
  DIALECTS,
  type Json,
  Level,
  modelOf,
  seenUpstream,
} from "./fixtures.ts";

const gateway = sharedGateway();
let client: OpenAI;
beforeAll(() => {
  client = clientsOf(gateway).openai;
});

const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: "function",
    name: "read_level",
    parameters: { type: "object", properties: { gauge: { type: "string" } }, required: ["gauge"] },
    strict: false,
  },
  { type: "function", name: "open_gate", parameters: { type: "object", properties: {} }, strict: false },
];

describe.each(DIALECTS)("to %s", (dialect) => {
  const model = modelOf(dialect);

  test("a response, with the id its client can quote", async () => {
    const { data, request_id } = await client.responses
      .create({ model, instructions: "Be brief.", input: "What is a weir?" })
      .withResponse();
    expect(data).toMatchObject({
      id: `resp_${request_id}`,
      object: "response",
      model,
      status: "completed",
      error: null,
      incomplete_details: null,
      output: [
        { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text" }] },
      ],
      usage: { output_tokens: 16 },
      svc: { request_id },
    });
    expect(data.output_text).toMatch(/\w/);
    const { input_tokens = 0, output_tokens = 0, total_tokens } = data.usage ?? {};
    expect(total_tokens).toBe(input_tokens + output_tokens);
  });

  test("the stream helper: numbered events in order, and the final response is the whole answer", async () => {
    const request = { model, input: "Twice the same [[sim tokens=9 unicode]]" };
    const whole = await client.responses.create(request);
    const stream = client.responses.stream(request);
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    let text = "";
    stream.on("event", (event) => events.push(event));
    stream.on("response.output_text.delta", ({ delta }) => {
      text += delta;
    });
    const final = await stream.finalResponse();
    expect(final.output_text).toBe(whole.output_text);
    expect(text).toBe(whole.output_text);
    expect(text).not.toContain("\ufffd");
    expect(final).toMatchObject({ status: "completed", model, usage: whole.usage ?? {} });
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
    const types = events.map(({ type }) => type).filter((type) => type !== "response.output_text.delta");
    expect(types).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
  });

  test("cached tokens are part of the input, reasoning of the output, streamed too", async () => {
    const input = "Count [[sim prompt_tokens=100 cached_tokens=40 reasoning=5 tokens=7]]";
    const usage = {
      input_tokens: 100,
      output_tokens: 12,
      total_tokens: 112,
      input_tokens_details: { cached_tokens: 40 },
    };
    expect((await client.responses.create({ model, input })).usage).toMatchObject(usage);
    expect((await client.responses.stream({ model, input }).finalResponse()).usage).toMatchObject(usage);
  });

  test("T45: calls, streamed and whole", async () => {
    const request = { model, input: "Levels? [[sim tool_calls=2 tokens=3]]", tools };
    const whole = await client.responses.create(request);
    const stream = client.responses.stream(request);
    const deltas = new Map<number, string>();
    stream.on("response.function_call_arguments.delta", ({ output_index: at, delta }) =>
      deltas.set(at, (deltas.get(at) ?? "") + delta),
    );
    const final = await stream.finalResponse();
    expect(callsOf(final.output).map(({ name }) => name)).toEqual(["read_level", "open_gate"]);
    expect(callsOf(final.output).map(jsonOf)).toEqual(callsOf(whole.output).map(jsonOf));
    expect(final.output_text).toBe(whole.output_text);
    for (const [at, text] of deltas) expect(final.output[at]).toMatchObject({ arguments: text });
    expect(deltas.size).toBe(2);
    expect(new Set(callsOf(final.output).map(({ call_id }) => call_id)).size).toBe(2);
  });

  test("structured output and typed arguments are parsed", async () => {
    const request = { model, input: "As JSON", text: { format: zodTextFormat(Level, "level") } };
    const parsed = await client.responses.parse(request);
    expect(Level.safeParse(parsed.output_parsed).success).toBe(true);
    const streamed = await client.responses.stream(request).finalResponse();
    expect(streamed.output_parsed).toEqual(parsed.output_parsed);

    const called = await client.responses.parse({
      model,
      input: "Which gauge?",
      tools: [zodResponsesFunction({ name: "read_level", parameters: Level })],
      tool_choice: { type: "function", name: "read_level" },
    });
    const call = called.output.find((item) => item.type === "function_call");
    expect(Level.safeParse(call?.parsed_arguments).success).toBe(true);
  });

  test("a refusal and the length bound", async () => {
    const refusal = { model, input: 'No [[sim refuse="I would rather not."]]' };
    const refused = await client.responses.create(refusal);
    const streamed = await client.responses.stream(refusal).finalResponse();
    expect(plain(streamed).output.map(contentOf)).toEqual(plain(refused).output.map(contentOf));
    expect([refused.status, refused.incomplete_details]).toEqual([
      streamed.status,
      streamed.incomplete_details,
    ]);
    if (dialect === "chat" || dialect === "responses")
      expect(plain(refused).output.map(contentOf)).toEqual([
        [{ type: "refusal", refusal: "I would rather not." }],
      ]);
    else expect(refused.incomplete_details).toEqual({ reason: "content_filter" });

    const cut = { model, input: "Go on [[sim tokens=400]]", max_output_tokens: 16 };
    const bound = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    expect(await client.responses.create(cut)).toMatchObject(bound);
    const events = await collect(await client.responses.create({ ...cut, stream: true }));
    expect(events.at(-1)).toMatchObject({ type: "response.incomplete", response: bound });
  });

  test("asked for again and deleted: as it was delivered", async () => {
    const made = await client.responses.create({ model, input: "Keep this" });
    const again = await client.responses.retrieve(made.id);
    expect(plain(again)).toEqual(plain(made));
    await client.responses.delete(made.id);
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const streamed = await client.responses.stream({ model, input: "Keep this stream" }).finalResponse();
    const kept = await client.responses.retrieve(streamed.id);
    expect(kept.output).toEqual(plain(streamed).output);
    expect(kept.output_text).toBe(streamed.output_text);
  });

  test("its input items are paged, and a prompt is counted", async () => {
    const input = Array.from({ length: 5 }, (_, at) => ({ role: "user" as const, content: `${at}` }));
    const made = await client.responses.create({ model, input });
    const query = { order: "asc", limit: 2, include: ["message.output_text.logprobs"] } as const;
    const listed: OpenAI.Responses.ResponseItem[] = [];
    for await (const item of client.responses.inputItems.list(made.id, {
      ...query,
      include: [...query.include],
    }))
      listed.push(item);
    expect(listed).toMatchObject(
      input.map(({ role, content }) => ({ role, content: [{ type: "input_text", text: content }] })),
    );
    const next = { model, input: "And?", previous_response_id: made.id };
    const { object, input_tokens: tokens } = await client.responses.inputTokens.count(next);
    expect(object).toBe("response.input_tokens");
    expect(tokens).toBeGreaterThan(
      (await client.responses.inputTokens.count({ model, input: "And?" })).input_tokens,
    );
    await expect(client.responses.inputItems.list("resp_68a1b2c3")).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });

  test("store: false keeps nothing", async () => {
    const made = await client.responses.create({ model, input: "Forget this", store: false });
    await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const next = client.responses.create({ model, input: "And?", previous_response_id: made.id });
    await expect(next).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "/previous_response_id",
    });
  });

  test("T49: previous_response_id over several turns: the whole conversation goes, the id does not", async () => {
    const from = gateway.simulator.totalCalls;
    const first = await client.responses.create({
      model,
      instructions: "Be brief.",
      input: "My name is Ada. [[sim tool_calls=1]]",
      tools,
    });
    const [call] = callsOf(first.output);
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [
        { type: "function_call_output", call_id: call?.call_id ?? "", output: "1.4 metres" },
        { role: "user", content: "And now?" },
      ],
      tools,
    });
    const third = await client.responses
      .stream({ model, previous_response_id: second.id, input: "What is my name?" })
      .finalResponse();
    expect(third.previous_response_id).toBe(second.id);
    const seen = bodiesSince(gateway, from);
    for (const body of seen) expect(JSON.stringify(body)).not.toContain("resp_");
    const last = JSON.stringify(seen[2]);
    for (const said of ["My name is Ada.", "read_level", "1.4 metres", "And now?", second.output_text])
      expect(last).toContain(said);
    // As the API has it: instructions are of one request.
    expect(last).not.toContain("Be brief.");
    const fork = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "2.8 metres" }],
      tools,
      tool_choice: "none",
    });
    expect(fork.status).toBe("completed");
    expect(JSON.stringify(seenUpstream(gateway))).not.toContain("And now?");
  });
});

test("a stored response is of its project alone", async () => {
  const made = await client.responses.create({ model: modelOf("chat"), input: "Mine" });
  const { json: project } = await gateway.call("POST", "/v1/projects", {
    body: { name: "Other", slug: "other" },
  });
  const { json: key } = await gateway.call("POST", "/v1/keys", {
    body: { name: "other", project_id: project.id },
  });
  const other = clientsOf(gateway, { apiKey: key.secret }).openai;
  await expect(other.responses.retrieve(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  await expect(other.responses.delete(made.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError);
  const request = { model: modelOf("chat"), input: "Yours?", previous_response_id: made.id };
  await expect(other.responses.create(request)).rejects.toBeInstanceOf(OpenAI.BadRequestError);
});

test("T53: to responses every byte passes, what nobody here knows included", async () => {
  const request = {
    model: modelOf("responses"),
    input: "Untouched",
    metadata: { trip: "upstream" },
    prompt_cache_key: "k-1",
    truncation: "disabled" as const,
    store: false,
  };
  await client.responses.create(request);
  expect(seenUpstream(gateway)).toEqual({ ...request, model: "sim-responses" });
});

/** What the API sent, without the client's own additions. */
const plain = (response: OpenAI.Responses.Response) => {
  const { output_text: _, ...sent } = JSON.parse(JSON.stringify(response));
  for (const item of sent.output) {
    delete item.parsed_arguments;
    for (const part of item.content ?? []) delete part.parsed;
  }
  return sent;
};

const contentOf = ({ content }: Json): Json => content;

const callsOf = (output: readonly OpenAI.Responses.ResponseOutputItem[]) =>
  output.filter((item) => item.type === "function_call");
const jsonOf = ({ name, arguments: text }: OpenAI.Responses.ResponseFunctionToolCall) => ({
  name,
  arguments: JSON.parse(text),
});
