/**
 * Conversations by the official `openai` client: every method, and responses that go on from one, through the gateway to every upstream
 * dialect, whole and streamed.
 */
import OpenAI from "openai";
import { beforeAll, describe, expect, test } from "vitest";
import { sharedGateway } from "../../support/shared-gateway.ts";
import { clientsOf, collect, DIALECTS, modelOf, seenUpstream, thrownBy } from "./fixtures.ts";

const gateway = sharedGateway();
let client: OpenAI;
beforeAll(() => {
  client = clientsOf(gateway).openai;
});

type Item = OpenAI.Conversations.Items.ConversationItem;
const said = (items: readonly Item[]) =>
  items.map((item) => (item.type === "message" ? `${item.role}: ${textOf(item)}` : item.type));
const textOf = ({ content }: OpenAI.Conversations.Message) =>
  content.map((part) => ("text" in part ? part.text : part.type)).join("");
const itemsOf = (id: string) => collect(client.conversations.items.list(id, { order: "asc" }));

describe("conversations", () => {
  test("are made, read, updated and deleted", async () => {
    const made = await client.conversations.create({
      metadata: { topic: "weirs" },
      items: [{ type: "message", role: "user", content: "Hello!" }],
    });
    expect(made).toEqual({
      id: expect.stringMatching(/^conv_[0-9A-Z]{26}$/),
      object: "conversation",
      created_at: expect.any(Number),
      metadata: { topic: "weirs" },
    });
    expect(await client.conversations.retrieve(made.id)).toEqual(made);
    const updated = await client.conversations.update(made.id, { metadata: { topic: "locks" } });
    expect(updated).toEqual({ ...made, metadata: { topic: "locks" } });
    expect(await client.conversations.retrieve(made.id)).toEqual(updated);
    expect(said(await itemsOf(made.id))).toEqual(["user: Hello!"]);
    expect(await client.conversations.delete(made.id)).toEqual({
      id: made.id,
      object: "conversation.deleted",
      deleted: true,
    });
    const gone = await thrownBy(client.conversations.retrieve(made.id));
    expect(gone).toBeInstanceOf(OpenAI.NotFoundError);
    expect((gone as Error).message).toContain(`Conversation with id '${made.id}' not found.`);
  });

  test("without a body: empty", async () => {
    const { id, metadata } = await client.conversations.create();
    expect(metadata).toEqual({});
    expect((await client.conversations.items.list(id)).data).toEqual([]);
  });

  test("items are added, listed in pages, read and deleted", async () => {
    const { id } = await client.conversations.create();
    const added = await client.conversations.items.create(id, {
      items: [
        { role: "user", content: "One" },
        { type: "message", role: "assistant", content: "Two" },
        { type: "function_call", call_id: "call_1", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "3" },
      ],
    });
    expect(added).toMatchObject({ object: "list", has_more: false, first_id: added.data[0]?.id });
    expect(added.data).toEqual([
      {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        role: "user",
        status: "completed",
        content: [{ type: "input_text", text: "One" }],
      },
      {
        id: expect.stringMatching(/^msg_/),
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "Two", annotations: [] }],
      },
      expect.objectContaining({
        id: expect.stringMatching(/^fc_/),
        type: "function_call",
        status: "completed",
      }),
      expect.objectContaining({ id: expect.stringMatching(/^fco_/), output: "3" }),
    ]);
    // The newest first, page by page.
    const pages: number[] = [];
    const all: string[] = [];
    for await (const page of (await client.conversations.items.list(id, { limit: 3 })).iterPages()) {
      pages.push(page.data.length);
      all.push(...page.data.map((item) => item.id ?? ""));
    }
    expect([pages, all]).toEqual([[3, 1], added.data.map((item) => item.id ?? "").reverse()]);
    const second = added.data[1]?.id ?? "";
    expect(await client.conversations.items.retrieve(second, { conversation_id: id })).toEqual(added.data[1]);
    expect(await client.conversations.items.delete(second, { conversation_id: id })).toMatchObject({ id });
    const left = await itemsOf(id);
    expect(left.map((item) => item.id)).toEqual([0, 2, 3].map((at) => added.data[at]?.id));
    await expect(client.conversations.items.retrieve(second, { conversation_id: id })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
  });
});

describe.each(DIALECTS)("responses to %s", (dialect) => {
  const model = modelOf(dialect);

  test.each([false, true])("go on from a conversation; stream: %s", async (stream) => {
    const conversation = await client.conversations.create({
      items: [{ role: "user", content: "I am Ada." }],
    });
    const { id } = conversation;
    const ask = async (input: string, by: string | { id: string }) => {
      if (!stream) return await client.responses.create({ model, input, conversation: by });
      const events = await collect(await client.responses.create({ model, input, conversation: by, stream }));
      const responses = events.flatMap((event) => ("response" in event ? [event.response] : []));
      for (const one of responses) expect(one.conversation).toEqual({ id });
      expect(events.at(-1)?.type).toBe("response.completed");
      return responses.at(-1) as OpenAI.Responses.Response;
    };
    const first = await ask("Who am I?", id);
    expect([first.conversation, first.previous_response_id]).toEqual([{ id }, null]);
    await client.conversations.items.create(id, { items: [{ role: "user", content: "Be brief." }] });
    const second = await ask("And you?", { id });
    const seen = JSON.stringify(seenUpstream(gateway));
    for (const text of [
      "I am Ada.",
      "Who am I?",
      first.output[0]?.type === "message" ? outputOf(first) : "",
      "Be brief.",
      "And you?",
    ])
      expect(seen).toContain(text);
    expect(seen).not.toContain(id);
    expect(said(await itemsOf(id))).toEqual([
      "user: I am Ada.",
      "user: Who am I?",
      `assistant: ${outputOf(first)}`,
      "user: Be brief.",
      "user: And you?",
      `assistant: ${outputOf(second)}`,
    ]);
    const items = await itemsOf(id);
    expect(new Set(items.map((item) => item.id)).size).toBe(6);
    expect(items.at(-1)?.id).toBe(second.output.at(-1)?.id);
    // What was made in it is a response as any other: it can be gone on from beside the conversation.
    const fork = await client.responses.create({ model, input: "Else?", previous_response_id: first.id });
    expect(fork.status).toBe("completed");
    expect(JSON.stringify(seenUpstream(gateway))).toContain("I am Ada.");
    expect((await itemsOf(id)).length).toBe(6);
  });

  test("items that only a conversation has are found by their ids, in it and outside of it", async () => {
    const { id } = await client.conversations.create({ items: [{ role: "user", content: "PLUM" }] });
    await client.conversations.items.create(id, { items: [{ role: "assistant", content: "PEAR" }] });
    const input = (await itemsOf(id)).map(
      (item): OpenAI.Responses.ResponseInputItem => ({ type: "item_reference", id: item.id ?? "" }),
    );
    input.push({ role: "user", content: "Which?" });
    const outside = await client.responses.create({ model, input });
    expect(outside.status).toBe("completed");
    const seen = JSON.stringify(seenUpstream(gateway));
    for (const text of ["PLUM", "PEAR", "Which?"]) expect(seen.split(text)).toHaveLength(2);
    expect(seen).not.toContain("item_reference");
    const other = await client.conversations.create();
    await client.responses.create({ model, input, conversation: other.id });
    expect(said(await itemsOf(other.id)).slice(0, 3)).toEqual([
      "user: PLUM",
      "assistant: PEAR",
      "user: Which?",
    ]);
  });

  test("`store: false` reads it, and adds nothing", async () => {
    const { id } = await client.conversations.create({ items: [{ role: "user", content: "PLUM" }] });
    const asked = { model, input: "Which?", conversation: id, store: false };
    expect((await client.responses.create(asked)).status).toBe("completed");
    const events = await collect(await client.responses.create({ ...asked, stream: true }));
    expect(events.at(-1)?.type).toBe("response.completed");
    expect(JSON.stringify(seenUpstream(gateway))).toContain("PLUM");
    expect(said(await itemsOf(id))).toEqual(["user: PLUM"]);
  });

  test("calls of tools and their results are turns of it", async () => {
    const { id } = await client.conversations.create();
    const tools: OpenAI.Responses.Tool[] = [
      { type: "function", name: "read_level", parameters: { type: "object", properties: {} }, strict: false },
    ];
    const asked = await client.responses.create({
      model,
      conversation: id,
      input: "Read the level.",
      tools,
      tool_choice: { type: "function", name: "read_level" },
    });
    const call = asked.output.find((item) => item.type === "function_call");
    const answered = await client.responses.create({
      model,
      conversation: id,
      input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "1.4 metres" }],
      tools,
      tool_choice: "none",
    });
    expect(answered.status).toBe("completed");
    expect(JSON.stringify(seenUpstream(gateway))).toContain("1.4 metres");
    const types = (await itemsOf(id)).map(({ type }) => type).filter((type) => type !== "reasoning");
    expect(types).toEqual(["message", "function_call", "function_call_output", "message"]);
  });
});

const outputOf = ({ output }: OpenAI.Responses.Response) =>
  output
    .map((item) =>
      item.type === "message" ? item.content.map((part) => ("text" in part ? part.text : "")).join("") : "",
    )
    .join("");
