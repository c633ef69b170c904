/** Time and room of what is fetched from addresses, the endpoints that are tried where it fails, and a stop meanwhile. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { ScriptedUpstream } from "../../support/field/upstream.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { atRest, metric } from "../../support/observations.ts";
import { equals, until } from "../../support/wait.ts";
import {
  addressed,
  type MediaServer,
  PDF,
  PNG,
  said,
  sends,
  startMediaServer,
} from "./media-fetch.fixtures.ts";

let server: MediaServer;
let up: ScriptedUpstream;

const open = (media: object, others: object = {}) =>
  testGateway({
    settings: {
      ...others,
      media_fetch: { enabled: true, allow: ["127.0.0.0/8"], ...media },
    },
    endpoints: [
      ...(["converse", "messages"] as const).map((dialect) => ({
        provider: dialect,
        baseUrl: `${up.url}/${dialect}/v1`,
        dialects: [dialect],
      })),
      {
        provider: "dear",
        baseUrl: `${up.url}/dear/v1`,
        dialects: ["converse"],
        price: { input: 100, output: 2 },
      },
    ],
  });

beforeAll(async () => {
  server = await startMediaServer();
  up = await ScriptedUpstream.start();
});
beforeEach(() => {
  server.asked.length = 0;
  server.paths.set("/a.png", sends(PNG));
  // Says nothing, and closes nothing.
  server.paths.set("/slow.png", () => {});
});
afterAll(async () => {
  await up.close();
  await server.close();
});

const ask = (gateway: TestGateway, path: string, order: readonly string[]) =>
  gateway.call("POST", "/v1/chat/completions", {
    body: {
      model: "test/model",
      svc: { route: { providers: { order, only: order } } },
      ...said("chat", [addressed("chat", "image", `${server.url}${path}`)]),
    },
  });

describe("within the time", () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await open({ timeout_ms: 200 });
  });
  afterAll(() => gateway.stop());

  it("a server that says nothing is given up, and the call is refused", async () => {
    up.script();
    const { status, json } = await ask(gateway, "/slow.png", ["converse"]);
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      "invalid_value",
      "/messages/0/content/0",
    ]);
    expect(json.error.message).toContain("It took more than 200 ms.");
    await until("its connection is closed", () => server.asked[0]?.socket.destroyed, equals(true));
    await atRest(gateway);
  });

  it("an endpoint that takes the address is asked in its place", async () => {
    up.script(answerOf("messages", { text: "seen" }, false));
    const answer = await ask(gateway, "/slow.png", ["converse", "messages"]);
    expect(answer.status, answer.text).toBe(200);
    expect(up.arrived.map(({ url }) => url)).toEqual(["/messages/v1/messages"]);
    expect(up.last.raw).toContain(`${server.url}/slow.png`);
  });

  it("nothing is fetched where the first endpoint takes the address", async () => {
    up.script(answerOf("messages", { text: "seen" }, false));
    expect((await ask(gateway, "/a.png", ["messages", "converse"])).status).toBe(200);
    expect(server.asked).toEqual([]);
  });

  it("an image that turns out to be a PDF is held for as one", async () => {
    server.paths.set("/b", sends(PDF, "image/png"));
    up.script(answerOf("converse", { text: "seen" }, false));
    const image = await ask(gateway, "/a.png", ["dear"]);
    expect(image.status, image.text).toBe(200);
    const pdf = await ask(gateway, "/b", ["dear"]);
    expect([pdf.status, pdf.json.error.code]).toEqual([402, "insufficient_credits"]);
    await atRest(gateway);
  });

  it("fetched and failed addresses are counted", async () => {
    up.script(answerOf("converse", { text: "seen" }, false));
    expect((await ask(gateway, "/a.png", ["converse"])).status).toBe(200);
    expect(await metric(gateway, 'weir_media_fetches_total{outcome="fetched"}')).toBe(3);
    expect(await metric(gateway, 'weir_media_fetches_total{outcome="failed"}')).toBe(2);
  });
});

it("what is under way has a bound, and half of it is an org's: a call beyond it may be sent again", async () => {
  const gateway = await open({ max_under_way_bytes: 2 * PNG.length });
  try {
    up.script();
    const { status, json, headers } = await ask(gateway, "/a.png", ["converse"]);
    expect([status, json.error.code]).toEqual([429, "concurrency"]);
    expect(headers.get("retry-after-ms")).toBe("1000");
    await atRest(gateway);
  } finally {
    await gateway.stop();
  }
});

it("a stop ends what is under way", async () => {
  const gateway = await open({ timeout_ms: 600_000 }, { timeouts: { shutdown_ms: 1000 } });
  const answer = ask(gateway, "/slow.png", ["converse"]);
  await until("it is being fetched", () => server.asked.length, equals(1));
  await gateway.stop();
  const { status, json } = await answer;
  expect([status, json.error.code]).toEqual([503, "shutting_down"]);
});

it("a range that is none refuses the start, with its place", async () => {
  await expect(open({ allow: ["10.0.0.1/8"] })).rejects.toThrow("weir.yaml: /media_fetch/allow/0: ");
});
