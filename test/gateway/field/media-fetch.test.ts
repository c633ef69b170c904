/**
 * Pictures and documents by address for a dialect that takes only data: fetched where `weir.yaml` turns it on, from allowed addresses,
 * within bounds, and refused with a reason and without a charge where they cannot be had.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { answerOf } from "../../support/field/answers.ts";
import { type Field, startField, TARGETS, type TargetName } from "../../support/field/field.ts";
import { atRest, charges } from "../../support/observations.ts";
import { equals, until } from "../../support/wait.ts";
import { type Client, told } from "./media.fixtures.ts";
import {
  addressed,
  type Kind,
  type MediaServer,
  PDF,
  PNG,
  redirects,
  returned,
  type Serve,
  said,
  sends,
  startMediaServer,
} from "./media-fetch.fixtures.ts";

const MAX_BYTES = 300_000;
const CLIENTS: readonly Client[] = ["chat", "responses", "messages", "generate"];

let server: MediaServer;
let field: Field;

beforeAll(async () => {
  server = await startMediaServer();
  field = await startField({
    settings: {
      media_fetch: { enabled: true, allow: ["127.0.0.0/8"], max_bytes: MAX_BYTES, max_call_bytes: 1_000_000 },
    },
    model: { modalities: { in: ["text", "image", "audio", "video"], out: ["text"] } },
  });
});
afterAll(async () => {
  await field.stop();
  await server.close();
});
beforeEach(() => {
  server.paths.clear();
  server.asked.length = 0;
  server.paths.set("/a.png", sends(PNG));
  server.paths.set("/b.pdf", sends(PDF, "application/pdf"));
});

async function send(client: Client, to: TargetName, body: object, stream = false) {
  field.up.script(answerOf(TARGETS[to].dialect, { text: "seen" }, stream));
  return field.send(client, to, body, { stream });
}

const at = (path: string) => `${server.url}${path}`;
const image = (path: string) => addressed("chat", "image", at(path));
const ask = (...parts: (object | undefined)[]) => send("chat", "converse", said("chat", parts));

const data = (kind: Kind) =>
  kind === "image"
    ? { as: "image", type: "image/png", data: PNG.toString("base64") }
    : { as: "document", type: "application/pdf", data: PDF.toString("base64") };

describe.each(CLIENTS)("from %s", (client) => {
  it.each(["image", "document"] as const)("an %s is told as data, whole and streamed", async (kind) => {
    const part = addressed(client, kind, at(kind === "image" ? "/a.png" : "/b.pdf"));
    for (const stream of [false, true]) {
      server.asked.length = 0;
      const answer = await send(client, "converse", said(client, [part]), stream);
      expect(answer.status, answer.text).toBe(200);
      expect(told("converse", field.up.last.json)).toEqual([data(kind)]);
      expect(server.asked.map(({ url }) => url)).toEqual([kind === "image" ? "/a.png" : "/b.pdf"]);
    }
  });

  it("a tool's result is told as data", async () => {
    const answer = await send(client, "converse", returned(client, addressed(client, "image", at("/a.png"))));
    expect(answer.status, answer.text).toBe(200);
    expect(told("converse", field.up.last.json)).toEqual([data("image")]);
  });
});

it("a document is fetched for chat, which takes only images by address", async () => {
  const parts = [
    addressed("messages", "document", at("/b.pdf")),
    addressed("messages", "image", at("/a.png")),
  ];
  const answer = await send("messages", "chat", said("messages", parts));
  expect(answer.status, answer.text).toBe(200);
  expect(server.asked.map(({ url }) => url)).toEqual(["/b.pdf"]);
  expect(field.up.last.raw).toContain(at("/a.png"));
  expect(field.up.last.raw).toContain(PDF.toString("base64"));
});

it.each(["messages", "responses", "gemini", "chat"] as const)("nothing is fetched for %s", async (to) => {
  const answer = await send("generate", to, said("generate", [addressed("generate", "image", at("/a.png"))]));
  expect(answer.status, answer.text).toBe(200);
  expect(server.asked).toEqual([]);
  expect(field.up.last.raw).toContain(at("/a.png"));
});

it("is asked for without a coding, a cookie or a credential", async () => {
  expect((await ask(image("/a.png?size=2"))).status).toBe(200);
  const [{ headers, method, url } = {} as never] = server.asked;
  expect([method, url]).toEqual(["GET", "/a.png?size=2"]);
  expect(headers).toEqual({
    accept: expect.stringContaining("image/*"),
    "accept-encoding": "identity",
    connection: "keep-alive",
    host: new URL(server.url).host,
    "user-agent": "weir",
  });
});

it("is fetched once, however often a call names it", async () => {
  expect((await ask(image("/a.png"), image("/a.png"), image("/a.png"))).status).toBe(200);
  expect(server.asked).toHaveLength(1);
  expect(told("converse", field.up.last.json)).toEqual([data("image"), data("image"), data("image")]);
});

it("is fetched from an address as long as may be, and from no longer one", async () => {
  const long = (length: number) => `/a.png?${"k".repeat(length - at("/a.png?").length)}`;
  expect((await ask(image(long(2048)), image("/a.png"))).status).toBe(200);
  expect(told("converse", field.up.last.json)).toEqual([data("image"), data("image")]);
  const { status, json } = await ask(image(long(2049)));
  expect(status).toBe(400);
  expect(json.error.message).toContain("The URL is longer than 2048 characters.");
});

it("is what its first bytes tell, whatever its server says", async () => {
  server.paths.set("/x", sends(PDF, "application/octet-stream"));
  server.paths.set("/y", sends(PNG, ""));
  expect((await ask(image("/x"), image("/y"))).status).toBe(200);
  expect(told("converse", field.up.last.json)).toEqual([data("document"), data("image")]);
});

it("follows redirects", async () => {
  server.paths.set("/1", redirects("/2"));
  server.paths.set("/2", redirects(at("/a.png"), 307));
  expect((await ask(image("/1"))).status).toBe(200);
  expect(told("converse", field.up.last.json)).toEqual([data("image")]);
});

it("large ones reach the dialect unchanged, from a body that is read in a thread too", async () => {
  const bytes = Buffer.concat([PNG, Buffer.alloc(MAX_BYTES - PNG.length, "abcdefg")]);
  server.paths.set("/large", (response) => {
    response.writeHead(200, { "content-type": "image/png" });
    for (let from = 0; from < bytes.length; from += 40_001)
      response.write(bytes.subarray(from, from + 40_001));
    response.end();
  });
  const text = { type: "text", text: "x".repeat(300_000) };
  for (const parts of [[image("/large")], [image("/large"), text]]) {
    expect((await ask(...parts)).status).toBe(200);
    const [medium] = told("converse", field.up.last.json);
    expect(medium?.data === bytes.toString("base64")).toBe(true);
  }
});

it("text is told as text", async () => {
  server.paths.set("/t.txt", sends("größer", "text/plain; charset=utf-8"));
  const part = addressed("messages", "document", at("/t.txt"));
  expect((await send("messages", "converse", said("messages", [part]))).status).toBe(200);
  expect(told("converse", field.up.last.json)).toEqual([{ as: "text", type: "", data: "größer" }]);
});

describe("S16: a call is refused, names the part, and is charged nothing", () => {
  const NOT_FETCHED = "/messages/0/content/1: the image at this address could not be fetched. ";
  const NOT_ALLOWED = "Calls to this address and port are not allowed.";
  const TOO_LARGE = `It is larger than ${MAX_BYTES} bytes.`;
  const long = Buffer.alloc(MAX_BYTES + 1);

  it.each<[string, string, string]>([
    ["of the metadata service", "http://169.254.169.254/latest", NOT_ALLOWED],
    ["in a private network", "http://10.0.0.1/a.png", NOT_ALLOWED],
    ["with a password", "https://a:b@example.com/", "The URL must not contain a user name or a password."],
    ["that is no URL", "http://", "This is not a valid URL."],
  ])("by an address %s", (_, url, why) => refused(url, why));

  it("by an address of the gateway itself", () => refused(`${field.gateway.url}/a.png`, NOT_ALLOWED));

  it.each<[string, Serve, string]>([
    ["is missing", (response) => response.writeHead(404).end(), "Its server answered with the status 404."],
    ["is a page", sends("<html>", "text/html"), 'Its server says that it is of type "text/html".'],
    [
      "announces a length beyond the bound",
      (response) => response.writeHead(200, { "content-length": long.length }).end(long),
      TOO_LARGE,
    ],
    [
      "is longer than the bound, and announces no length",
      (response) => {
        response.writeHead(200, { "content-type": "image/png" }).write(long.subarray(0, 100_000));
        response.end(long.subarray(100_000));
      },
      TOO_LARGE,
    ],
    [
      "comes compressed",
      (response) => response.writeHead(200, { "content-encoding": "gzip" }).end("z"),
      "Its server sends it compressed, unasked.",
    ],
    [
      "breaks off",
      (response) => {
        response.writeHead(200, { "content-type": "image/png", "content-length": "100" });
        response.write("half", () => response.destroy());
      },
      "There was no valid answer. No more is shown of an address that is not public.",
    ],
    ["is empty", sends(""), "Its server sent no byte of it."],
    ["leads to a private address", redirects("http://192.168.0.1/a.png"), NOT_ALLOWED],
    ["leads to a file", redirects("file:///etc/passwd"), "The URL must begin with https:// or http://."],
    ["leads to itself", redirects("/x"), "It is redirected more than 5 times."],
  ])("by what %s", (_, serve, why) => {
    server.paths.set("/x", serve);
    return refused(at("/x"), why);
  });

  async function refused(url: string, why: string): Promise<void> {
    const before = (await charges(field.gateway)).size;
    const answer = await ask(image("/a.png"), addressed("chat", "image", url));
    expect(answer.status, answer.text).toBe(400);
    const { code, message, param } = answer.json.error;
    expect([code, message, param]).toEqual(["invalid_value", NOT_FETCHED + why, "/messages/0/content/1"]);
    expect(field.up.arrived).toEqual([]);
    await atRest(field.gateway);
    expect((await charges(field.gateway)).size).toBe(before);
  }

  it("with 21 addresses", async () => {
    for (let i = 0; i < 21; i++) server.paths.set(`/${i}.png`, sends(PNG));
    const parts = Array.from({ length: 21 }, (_, i) => image(`/${i}.png`));
    expect((await ask(...parts.slice(1))).status).toBe(200);
    server.asked.length = 0;
    const { status, json } = await ask(...parts);
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      "invalid_value",
      "/messages/0/content/20",
    ]);
    expect(server.asked).toEqual([]);
  });

  it("with more bytes together than a call may have", async () => {
    const parts = Array.from({ length: 4 }, (_, i) => {
      server.paths.set(`/${i}.png`, sends(Buffer.alloc(MAX_BYTES, "a")));
      return image(`/${i}.png`);
    });
    const { status, json } = await ask(...parts);
    expect([status, json.error.code]).toEqual([400, "invalid_value"]);
    expect(json.error.message).toContain("larger than 1000000 bytes together");
  });
});

it("a client that leaves ends the fetch", async () => {
  server.paths.set("/slow", (response) =>
    response.writeHead(200, { "content-type": "image/png" }).flushHeaders(),
  );
  const leaving = new AbortController();
  const sent = fetch(`${field.gateway.url}/v1/chat/completions`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${field.gateway.liveKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "test/converse", ...said("chat", [image("/slow")]) }),
  }).catch(() => undefined);
  await until("it is being fetched", () => server.asked.length, equals(1));
  const socket = server.asked[0]?.socket;
  leaving.abort();
  await sent;
  await until("the fetch has ended", () => socket?.destroyed, equals(true));
  await atRest(field.gateway);
});

it("a count of tokens fetches nothing, and is refused", async () => {
  const body = {
    model: "test/converse",
    ...said("messages", [addressed("messages", "image", at("/a.png"))]),
  };
  const answer = await field.gateway.call("POST", "/v1/messages/count_tokens", { body });
  expect(server.asked).toEqual([]);
  expect([answer.status, answer.json.error.code]).toEqual([400, "capability_not_supported"]);
});
