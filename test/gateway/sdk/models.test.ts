/** The model list in the hands of both official clients: each gets its own API's shape, errors and paging. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { sharedGateway } from "../../support/shared-gateway.ts";

const gateway = sharedGateway();

const VERSION = { "anthropic-version": "2023-06-01" };
const withApiKey = () =>
  new Anthropic({ baseURL: gateway.url, apiKey: gateway.liveKey, authToken: null, maxRetries: 0 });
const withAuthToken = () =>
  new Anthropic({ baseURL: gateway.url, apiKey: null, authToken: gateway.liveKey, maxRetries: 0 });
const get = (path: string, headers: object = {}, key: string | null = gateway.liveKey) =>
  gateway.call("GET", path, { key, headers });

/** Ids of all models that generate, as the plain list has them. */
async function generating(): Promise<string[]> {
  const { data } = (await get("/v1/models")).json;
  return (data as { id: string; task: string }[])
    .filter(({ task }) => task === "generate")
    .map(({ id }) => id);
}

async function all(client: Anthropic, query: Anthropic.ModelListParams = {}) {
  const models: Anthropic.ModelInfo[] = [];
  for await (const model of client.models.list(query)) models.push(model);
  return models;
}

describe("Anthropic's client", () => {
  test.each([
    ["apiKey", withApiKey],
    ["authToken", withAuthToken],
  ])("O23: with %s, lists and retrieves models", async (_, client) => {
    const models = await all(client());
    expect(models.map(({ id }) => id).sort()).toEqual((await generating()).sort());
    for (const model of models) {
      expect(model).toMatchObject({
        type: "model",
        id: expect.any(String),
        display_name: expect.any(String),
      });
      expect(new Date(model.created_at).toISOString()).toBe(model.created_at);
    }
    const first = models[0] as Anthropic.ModelInfo;
    expect(await client().models.retrieve(first.id)).toEqual(first);
    expect((await client().models.retrieve("sim-small")).id).toBe("weir/sim-small");
  });

  test("O23: pages both ways, whatever the size of a page; every model once, newest first", async () => {
    const client = withApiKey();
    const whole = await client.models.list({ limit: 1000 });
    expect([whole.has_more, whole.first_id, whole.last_id]).toEqual([
      false,
      whole.data[0]?.id,
      whole.data.at(-1)?.id,
    ]);
    const ids = whole.data.map(({ id }) => id);
    const ages = whole.data.map((m) => m.created_at);
    expect(ages).toEqual([...ages].sort().reverse());
    for (const limit of [1, 2, 3]) {
      expect((await all(client, { limit })).map(({ id }) => id)).toEqual(ids);
      const last = ids.at(-1) as string;
      const back: string[] = [];
      let page = await client.models.list({ limit, before_id: last });
      for (;;) {
        back.unshift(...page.data.map(({ id }) => id));
        if (!page.hasNextPage() || !page.has_more) break;
        page = await page.getNextPage();
      }
      expect(back).toEqual(ids.slice(0, -1));
    }
    const after = await client.models.list({ after_id: ids.at(-1) as string });
    expect([after.data, after.has_more, after.first_id, after.last_id]).toEqual([[], false, null, null]);
    expect((await get("/v1/models", VERSION)).json.data).toHaveLength(Math.min(20, ids.length));
  });

  test("O23: gets errors in its own envelope", async () => {
    const client = withApiKey();
    await expect(client.models.retrieve("weir/nope")).rejects.toBeInstanceOf(Anthropic.NotFoundError);
    await expect(client.models.list({ after_id: "weir/nope" })).rejects.toBeInstanceOf(
      Anthropic.BadRequestError,
    );
    for (const [path, key, status, type] of [
      ["/v1/models", null, 401, "authentication_error"],
      ["/v1/models/weir/sim-small", null, 401, "authentication_error"],
      ["/v1/models?limit=0", gateway.liveKey, 400, "invalid_request_error"],
      ["/v1/models?limit=1001", gateway.liveKey, 400, "invalid_request_error"],
      ["/v1/models?after_id=a&before_id=b", gateway.liveKey, 400, "invalid_request_error"],
      ["/v1/models/weir/nope", gateway.liveKey, 404, "not_found_error"],
    ] as const) {
      const answer = await get(path, VERSION, key);
      expect([answer.status, answer.json.type, answer.json.error.type]).toEqual([status, "error", type]);
      expect(answer.json.request_id).toBe(answer.headers.get("request-id"));
    }
    const posted = await gateway.call("POST", "/v1/models", { body: {}, headers: VERSION });
    expect([posted.status, posted.json.type]).toEqual([405, "error"]);
  });
});

describe("everyone else", () => {
  test("O23: x-api-key opens the model list in the usual shape too, and no route but those of Anthropic's API", async () => {
    const headers = { "x-api-key": gateway.liveKey };
    for (const path of ["/v1/models", "/v1/models/weir%2Fsim-small", "/v1/models/weir/sim-small"]) {
      expect((await get(path, headers, null)).json).toEqual((await get(path)).json);
      expect((await get(path, { "x-api-key": "svc-live-x" }, null)).status).toBe(401);
    }
    expect((await get("/v1/keys", headers, null)).status).toBe(401);
    const usual = (await get("/v1/models/weir/nope")).json;
    expect(usual).toMatchObject({ error: { type: "not_found", code: "model_not_found" } });
  });

  test("O23: OpenAI's client lists and retrieves as before", async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.liveKey, maxRetries: 0 });
    const { data, object } = await client.models.list();
    expect(object).toBe("list");
    for (const model of data) {
      expect(model).toMatchObject({
        object: "model",
        created: expect.any(Number),
        owned_by: expect.any(String),
      });
    }
    expect((await client.models.retrieve("weir/sim-small")).id).toBe("weir/sim-small");
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(new Set(ids).size).toBe(data.length);
  });
});
