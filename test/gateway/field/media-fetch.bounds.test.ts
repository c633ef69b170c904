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

const CONVERSE = { route: { providers: { order: ["converse"], only: ["converse"] } } };

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

it("a call that waits for its turn until its time is over may be sent again", async () => {
  const gateway = await open({ timeout_ms: 1000 });
  try {
    up.script();
    const slow = Array.from({ length: 20 }, (_, i) =>
      addressed("chat", "image", `${server.url}/slow.png?${i}`),
    );
    const first = gateway.call("POST", "/v1/chat/completions", {
      body: { model: "test/model", svc: CONVERSE, ...said("chat", slow) },
    });
    await until("the org's turns are taken", () => server.asked.length, equals(20));
    const second = gateway.call("POST", "/v1/chat/completions", {
      body: {
        model: "test/model",
        // Its time ends before that of the others.
        svc: { route: { ...CONVERSE.route, timeout_ms: 100 } },
        ...said("chat", [addressed("chat", "image", `${server.url}/a.png`)]),
      },
    });
    const { status, json, headers } = await second;
    expect([status, json.error.code, headers.get("retry-after-ms")]).toEqual([429, "concurrency", "1000"]);
    expect((await first).json.error.code).toBe("invalid_value");
    await atRest(gateway);
  } finally {
    await gateway.stop();
  }
});

it("is counted by its bytes, however small the pieces are", async () => {
  const bytes = Buffer.alloc(900, "\xff\xd8\xff", "latin1");
  server.paths.set("/pieces.jpg", (response) => {
    response.writeHead(200, { "content-type": "image/jpeg" });
    for (const byte of bytes) response.write(Buffer.of(byte));
    response.end();
  });
  const gateway = await open({ max_call_bytes: 1200 });
  try {
    up.script(answerOf("converse", { text: "seen" }, false));
    const answer = await ask(gateway, "/pieces.jpg", ["converse"]);
    expect(answer.status, answer.text).toBe(200);
  } finally {
    await gateway.stop();
  }
});

it("is given up where it comes in pieces of a byte without end", async () => {
  const pieces = "1\r\nx\r\n".repeat(100_000);
  server.paths.set("/pieces", (response) => {
    response.socket?.end(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`);
  });
  const gateway = await open({});
  try {
    up.script();
    const { status, json } = await ask(gateway, "/pieces", ["converse"]);
    expect([status, json.error.code]).toEqual([400, "invalid_value"]);
    expect(json.error.message).toContain("Its server sends it in pieces of a few bytes.");
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
