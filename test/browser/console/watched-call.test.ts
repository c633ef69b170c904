/** A detached call is watched in a browser while it runs: what it says, over a connection that breaks, in each format; who may, and its end. */
import type { ServerResponse } from "node:http";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { expectActs } from "../../support/console/acts.fixtures.ts";
import { consoleWorld } from "../../support/console/console-world.fixtures.ts";
import { cutOff } from "../../support/console/faults.fixtures.ts";
import { acceptInvitation, type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";
import { type Relay, startRelay } from "../../support/console/relay.fixtures.ts";
import { begin, leftAfter, resumed, STREAMS } from "../../support/detached/fixtures.ts";
import { startProvider, type TestProvider } from "../../support/upstream/fixtures.ts";
import { equals, until } from "../../support/wait.ts";

/** Says what the test says. */
let provider: TestProvider;
/** Its newest answer. */
let answer: ServerResponse | undefined;

const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const say = (content: string) => answer?.write(chunk({ content }));
const finish = () => answer?.end(`${chunk({}, "stop")}data: [DONE]\n\n`);

const world = consoleWorld(async () => {
  provider = await startProvider();
  provider.answer = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    answer = response;
    say("One");
  };
  return {
    endpoints: [
      { provider: "led", baseUrl: `${provider.url}/v1` },
      { provider: "thinks", instruction: { reasoning: 4, tokens: 6 } },
      { provider: "calls", instruction: { tool_calls: 1 } },
      { provider: "fails", instruction: { status: 500 } },
      { provider: "long", instruction: { tokens: LONG, gap_ms: 1 } },
    ],
    settings: { timeouts: { keep_alive_ms: 0 }, limits: { max_detached_call_bytes: 65_536 } },
  };
});
afterAll(async () => {
  for (const relay of relays) await relay.close();
  await provider?.close();
});

const relays: Relay[] = [];
const APP = { metadata: { app: "whole" } };
/** Tokens of an answer that is longer than what is kept of one. */
const LONG = 1000;
const by = (name: string) => ({ route: { providers: { only: [name] } } });

let ada: BrowserPerson;
beforeEach(async () => {
  ada ??= await personAt(world.browser, world.gateway.url, "ada@example.test");
  ada.told.length = 0;
});

/** The page's text, without what is around it. */
const shown = (person: BrowserPerson) => person.page.locator("main");
/** The text of each part. */
const said = ({ page }: BrowserPerson) =>
  page.evaluate<string[]>("[...document.querySelectorAll('.turn .said')].map((each) => each.textContent)");

test("it is opened from Live, shows what is said as it is said, and goes on where a cut connection left it", async () => {
  const relay = await startRelay(world.gateway.url);
  relays.push(relay);
  const { page } = ada;
  const asked: (string | undefined)[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/stream")) asked.push(request.headers()["last-event-id"]);
  });
  await page.goto(`${relay.url}/console/first/live`);
  const { id } = await leftAfter(world.gateway, "chat", 1, { svc: by("led") });
  await page.getByRole("link", { name: `Watch ${id}` }).click();
  await page.waitForURL(`**/live/${id}`);
  await shown(ada).getByText("running", { exact: true }).waitFor();
  await until("the beginning is shown", () => said(ada), equals(["One"]));
  say(", two");
  await until("more is shown", () => said(ada), equals(["One, two"]));
  expect(await cutOff(page)).toEqual([]);

  expect(asked).toEqual([undefined]);
  relay.cut();
  say(", three");
  await until("it goes on", () => said(ada), equals(["One, two, three"]));
  expect(asked.slice(1).every((last) => last !== undefined)).toBe(true);
  finish();
  await shown(ada).getByText("ended", { exact: true }).waitFor();
  expect(await said(ada)).toEqual(["One, two, three"]);
  expect(await page.getByRole("button", { name: "Cancel call" }).count()).toBe(0);
  await page.getByRole("link", { name: "The request" }).click();
  await page.getByRole("heading", { name: "Request", level: 1, exact: true }).waitFor();
});

test.each(Object.keys(STREAMS))("a call of the format %s is shown in its parts", async (format) => {
  const isPlain = format === "completions";
  const { id } = await leftAfter(world.gateway, format, 1, { svc: by(isPlain ? "led" : "thinks") });
  if (isPlain) finish();
  await ada.open(`first/live/${id}`);
  await shown(ada).getByText("ended", { exact: true }).waitFor();
  expect(await said(ada)).toHaveLength(isPlain ? 1 : 2);
  expect(await shown(ada).getByText("reasoning", { exact: true }).count()).toBe(isPlain ? 0 : 1);
  expect(ada.told).toEqual([]);
});

test("a call of a tool is shown with its name and arguments", async () => {
  const tool = { type: "function", function: { name: "look_up", parameters: { type: "object" } } };
  const { id } = await leftAfter(world.gateway, "chat", 1, { svc: by("calls"), body: { tools: [tool] } });
  await ada.open(`first/live/${id}`);
  await shown(ada).getByText("tool call look_up").waitFor();
  await shown(ada).getByText("ended", { exact: true }).waitFor();
  expect((await said(ada)).map((text) => JSON.parse(text))).toHaveLength(1);
});

test("an answer that is no stream is waited for, and shown as it is once it is there", async () => {
  const calls = provider.asked.length;
  const call = begin(world.gateway, "chat", { body: { stream: false }, svc: { ...by("led"), ...APP } });
  await until("it is asked for", () => provider.asked.length > calls);
  await ada.open(`first/live?q=${APP.metadata.app}`);
  await ada.page.getByRole("link", { name: /^Watch / }).click();
  await shown(ada).getByText("It has said nothing yet.").waitFor();
  say(" and all of it.");
  finish();
  await shown(ada).getByText("ended", { exact: true }).waitFor();
  const whole = JSON.parse(await (await call).text());
  expect(whole.choices[0].message.content).toBe("One and all of it.");
  expect(JSON.parse((await shown(ada).locator("pre").textContent()) ?? "")).toEqual(whole);
  expect(ada.told).toEqual([]);
});

test("of a call that is longer than what is kept, the rest is shown, and how much is missing", async () => {
  const { id } = await leftAfter(world.gateway, "chat", 1, { svc: by("long"), body: { max_tokens: LONG } });
  const fromStart = async () => (await resumed(world.gateway, id)).status;
  await until("its beginning is kept no longer", fromStart, equals(409));
  await ada.open(`first/live/${id}`);
  await shown(ada).getByText("ended", { exact: true }).waitFor();
  const { told } = ada;
  expect(told.map((line) => line.replace(/.*: /, ""))).toEqual([
    `409 GET ${world.gateway.url}/v1/generation/${id}/stream`,
  ]);
  const note =
    (await shown(ada)
      .getByText(/^Its first/)
      .textContent()) ?? "";
  const missing = Number(/first ([\d,]+) events/.exec(note)?.[1]?.replaceAll(",", ""));
  const [text = ""] = await said(ada);
  // Each event but the first and the last three is a token of five bytes.
  expect(text).toHaveLength(5 * (LONG - (missing - 1)));
});

test.each([true, false])("a call that fails says so (streamed: %s)", async (stream) => {
  const response = await begin(world.gateway, "chat", { svc: by("fails"), body: { stream } });
  const id = response.headers.get("x-svc-request-id") ?? "";
  await response.arrayBuffer();
  await ada.open(`first/live/${id}`);
  await shown(ada).getByText("failed", { exact: true }).waitFor();
  expect(await shown(ada).locator(".note[data-tone=bad]").textContent()).not.toBe("");
});

describe("who may", () => {
  test("cancels it, after a question, and sees that it was", async () => {
    provider.answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      answer = response;
      say("One");
    };
    const { id } = await leftAfter(world.gateway, "chat", 1, { svc: by("led") });
    await ada.open(`first/live/${id}`);
    await until("it is shown", () => said(ada), equals(["One"]));
    const closed = new Promise((resolve) => answer?.on("close", resolve));
    await ada.page.getByRole("button", { name: "Cancel call" }).click();
    const question = ada.page.getByRole("dialog", { name: "Cancel this call?" });
    await question.getByRole("button", { name: "Cancel call" }).click();
    await closed;
    await shown(ada).getByText("failed", { exact: true }).waitFor();
    expect(await said(ada)).toEqual(["One"]);
    expect(await ada.page.getByRole("button", { name: "Cancel call" }).count()).toBe(0);
    expect(ada.told).toEqual([]);
    expectActs("watched-call", ada);
  });

  test("is told plainly of a call that is not detached, or is long over", async () => {
    const plain = await world.gateway.chat();
    for (const id of [plain.headers.get("x-svc-request-id") ?? "", "0".repeat(26)]) {
      await ada.open(`first/live/${id}`);
      await shown(ada).getByText("This call is not detached, or its stream is kept no longer").waitFor();
      expect(ada.told.map((line) => line.replace(/.*: /, ""))).toEqual([
        `404 GET ${world.gateway.url}/v1/generation/${id}/stream`,
      ]);
      ada.told.length = 0;
    }
  });

  test("may not: a viewer sees that it runs, and neither what it says nor the way there", async () => {
    const body = { email: "vera@example.test", role: "viewer" };
    await ada.call("POST", "/v1/orgs/first/members", { body });
    const vera = await personAt(world.browser, world.gateway.url, body.email);
    await acceptInvitation(vera);
    await vera.open("first/live");
    const { id } = await leftAfter(world.gateway, "chat", 1, { svc: by("led") });
    await vera.page.getByText(id).waitFor();
    expect(await vera.page.getByRole("link", { name: `Watch ${id}` }).count()).toBe(0);
    await vera.open(`first/live/${id}`);
    await vera.page.getByText("Not open to your role.").waitFor();
    finish();
    expect(vera.told).toEqual([]);
  });
});
