/**
 * Vercel's AI SDK names what the model said (`item_reference`) instead of sending it back, unless told `store: false`; Claude
 * Code asks `HEAD /` first and sends its call on the same connection. Requests as recorded, shortened.
 */
import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { sharedGateway } from "../../../support/shared-gateway.ts";
import { bodiesSince } from "../../sdk/fixtures.ts";

const gateway = sharedGateway();

const ask = (body: object) => gateway.call("POST", "/v1/responses", { body });
const said = (text: string) => ({ role: "user", content: [{ type: "input_text", text }] });
const THINK = said("Look. [[sim reasoning=3 tool_calls=1]]");
const TOOLS = [{ type: "function", name: "look", parameters: { type: "object", properties: {} } }];
const REASONING = { effort: "low", summary: "auto" };

interface Item {
  readonly id: string;
  readonly type: string;
  readonly call_id?: string;
}

describe("items that are named", () => {
  test.each(["messages", "gemini", "chat"])("T48: come from the kept response: %s", async (dialect) => {
    const model = `weir/sim-${dialect}`;
    const usual = { model, tools: TOOLS, reasoning: REASONING };
    const first = await ask({ ...usual, input: [THINK] });
    const items: Item[] = first.json.output;
    const results = items.flatMap(({ type, call_id }) =>
      type === "function_call" ? [{ type: "function_call_output", call_id, output: "1" }] : [],
    );
    const next = said("And? [[sim tokens=3]]");
    const from = gateway.simulator.calls.length;
    const named = items.map(({ id }) => ({ type: "item_reference", id }));
    expect((await ask({ ...usual, input: [THINK, ...named, ...results, next] })).status).toBe(200);
    expect((await ask({ ...usual, input: [THINK, ...items, ...results, next] })).status).toBe(200);
    const [byName, whole] = bodiesSince(gateway, from);
    expect(byName).toEqual(whole);
  });

  test("that are not kept are a 404 that names the item", async () => {
    const id = "rs_01ARZ3NDEKTSV4RRFFQ69G5FAV_0";
    const answer = await ask({ model: "weir/sim-chat", input: [THINK, { type: "item_reference", id }] });
    expect([answer.status, answer.json.error.param]).toEqual([404, "/input/1"]);
  });

  test("another project's are not kept for this one, though one upstream account serves both", async () => {
    const first = await ask({ model: "weir/sim-responses", input: [said("Hi")] });
    const input = [{ type: "item_reference", id: first.json.output[0].id }, said("And?")];
    expect((await ask({ model: "weir/sim-responses", input })).status).toBe(200);
    const project = await gateway.call("POST", "/v1/projects", { body: { slug: "other", name: "Other" } });
    const key = await gateway.call("POST", "/v1/keys", {
      body: { project_id: project.json.id, name: "other", scopes: ["inference"] },
    });
    // The API takes a reference without its type, too.
    for (const type of ["item_reference", undefined, null]) {
      const body = { model: "weir/sim-responses", input: [{ ...input[0], type }, input[1]] };
      const answer = await gateway.call("POST", "/v1/responses", { body, key: key.json.secret });
      expect([answer.status, answer.json.error?.param]).toEqual([404, "/input/0"]);
    }
  });
});

test("a connection goes on after HEAD", async () => {
  const { hostname, port } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let text = "";
  await new Promise<void>((resolve, reject) => {
    socket.on("data", (data) => {
      const isFirst = text === "";
      text += data;
      if (isFirst) socket.write("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
      else resolve();
    });
    socket.on("error", reject).on("close", () => reject(new Error(`closed after: ${text}`)));
    socket.write("HEAD /nowhere HTTP/1.1\r\nHost: a\r\n\r\n");
  }).finally(() => socket.destroy());
  expect(text).toMatch(/^HTTP\/1\.1 404 [\s\S]*content-length: \d+[\s\S]*HTTP\/1\.1 200 OK/);
});
