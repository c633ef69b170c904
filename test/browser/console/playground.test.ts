/**
 * The playground in a browser: a call from the prompt to its record and back, two models beside each other, tools and pictures by hand, a
 * budget that is used up, and one key for all tabs.
 */
import type { Page, Request } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import { accessFaults, cutOff } from "../../support/console/faults.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { joinAt, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";

const OWNER = "owner@example.test";
const MARKUP = "<img src=x onerror=alert(1)> <b>bold</b>";

let gateway: TestGateway;
let browser: ConsoleBrowser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({ engine: true, settings: { playground: { daily_usd: 0.05 } } });
  // On loopback, whoever signs in first owns the first org, which has credit.
  await signInAt(gateway.url, { email: OWNER });
  browser = await openBrowser(gateway.url);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});

const at = (query: string): string => `${gateway.url}/console/first/playground${query}`;
const message = (page: Page) => page.getByLabel("Message", { exact: true });
const sendButton = (page: Page) => page.getByRole("button", { name: "Send", exact: true });
const conversation = (page: Page) => page.getByRole("region", { name: "Conversation" });

async function opened(query = "?model=weir/sim-small", options = {}) {
  const watched = await browser.open(options);
  await signInBy(watched.page, gateway.url, OWNER);
  await watched.page.goto(at(query));
  await message(watched.page).waitFor();
  return watched;
}

async function say(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await message(page).press("Control+Enter");
}

test("a prompt is answered, priced, found among the requests, and asked again", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, told } = await opened();
  await message(page).fill(`${MARKUP} [[sim echo]]`);
  await page.getByText(/Next call: asks ep_simulator_sim-small_local; holds \$0\.\d+ at first/).waitFor();
  await message(page).press("Control+Enter");
  const answer = page.getByRole("article", { name: "assistant", exact: true });
  await answer.getByText(MARKUP).waitFor();
  await answer.getByText(/^cost \$0\.\d+$/).waitFor();
  await answer.getByText(/^first token \d/).waitFor();
  expect(await page.locator("main img, main b").count()).toBe(0);
  expect(told).toEqual([]);

  await answer.getByRole("link", { name: "Details of the request" }).click();
  // A record is found some seconds after its call.
  const again = page.getByRole("link", { name: "Again in the playground" });
  await page.waitForURL(/\/requests\//);
  for (const retry = page.getByRole("button", { name: "Try again" }); !(await again.isVisible()); ) {
    await again.or(retry).first().waitFor();
    if (await retry.isVisible()) await retry.click().catch(() => undefined);
  }
  await again.click();
  await page.waitForURL(/\/playground\?model=weir/);
  await conversation(page).getByText(`${MARKUP} [[sim echo]]`).waitFor();
  await page.getByRole("button", { name: "Ask for an answer" }).click();
  await page.getByRole("article", { name: "assistant", exact: true }).getByText(MARKUP).waitFor();
  await page.context().close();
});

test("two models answer beside each other, and go on", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, told } = await opened();
  await page.getByRole("button", { name: "Compare two models" }).click();
  await page.getByLabel("Model 2").last().selectOption("weir/sim-large");
  await page.getByLabel("Max tokens").fill("40");
  for (const text of ["First [[sim echo]]", "Second [[sim echo]]"]) {
    await say(page, text);
    for (const name of ["Model 1", "Model 2"])
      await page
        .getByRole("region", { name })
        .getByRole("article", { name: "assistant", exact: true })
        .filter({ hasText: text.replace(" [[sim echo]]", "") })
        .getByText(/^cost/)
        .waitFor();
  }
  const compared = page.getByRole("table").last();
  expect(await compared.getByRole("columnheader").allTextContents()).toEqual([
    "",
    "weir/sim-small",
    "weir/sim-large",
  ]);
  expect(await compared.getByRole("row", { name: /^Cost \$/ }).count()).toBe(1);
  expect(new URL(page.url()).searchParams.get("with")).toBe("weir/sim-large");
  expect(told).toEqual([]);
  await page.context().close();
});

test("an answer is stopped, a turn is changed, and what is typed stays while one looks elsewhere", async ({
  skip,
}) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page } = await opened();
  await say(page, "Slowly [[sim tokens=2000 gap_ms=50]]");
  await page.getByRole("article", { name: "assistant, answering" }).locator(".said").waitFor();
  await page.getByRole("button", { name: "Stop the answer" }).click();
  await page.getByText("stopped by you").waitFor();
  await message(page).fill("A draft");
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("heading", { name: "Models", level: 1 }).waitFor();
  await page.getByRole("link", { name: "Playground" }).click();
  await page.getByText("stopped by you").waitFor();
  expect(await message(page).inputValue()).toBe("A draft");
  expect(new URL(page.url()).searchParams.get("model")).toBe("weir/sim-small");

  const asked = page.getByRole("article", { name: "user" });
  await asked.getByRole("button", { name: "Edit" }).click();
  await asked.getByLabel("Text of this turn").fill("Quickly [[sim echo]]");
  await asked.getByRole("button", { name: "Save" }).click();
  await asked.getByRole("button", { name: "Send again" }).click();
  const answer = page.getByRole("article", { name: "assistant", exact: true });
  await answer.getByText(/^cost/).waitFor();
  expect(await answer.count()).toBe(1);
  expect(await answer.textContent()).toContain("Quickly");
  await page.context().close();
});

test("the model calls a tool, and its result is given by hand", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, told } = await opened();
  await page.getByText("Tools", { exact: true }).click();
  const tools = page.getByLabel("Tools, as JSON");
  await tools.fill('[{ "name": "weather" }, { "name": "weather" }]');
  await page.getByText('Tool 2: there is another tool "weather".').waitFor();
  await message(page).fill("Is it raining? [[sim tool_calls=1]]");
  expect(await sendButton(page).isDisabled()).toBe(true);
  await tools.fill('[{ "name": "weather", "parameters": { "type": "object" } }]');
  await sendButton(page).click();
  const form = page.getByRole("form", { name: "Results of the tools" });
  await form.getByLabel("Result of weather").fill(`${MARKUP} no rain`);
  await form.getByRole("button", { name: "Send the result" }).click();
  await conversation(page).getByText(`${MARKUP} no rain`).first().waitFor();
  await page.getByText(/^cost/).nth(1).waitFor();
  expect(await page.locator("main img, main b").count()).toBe(0);
  expect(told).toEqual([]);
  await page.context().close();
});

const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==",
  "base64",
);

test("pictures go where the model takes them, and only pictures", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page, told } = await opened("?model=weir/sim-reasoner");
  expect(await page.getByRole("button", { name: "Add pictures" }).count()).toBe(0);
  await page.getByLabel("Model", { exact: true }).selectOption("weir/sim-small");
  await page.locator("input[type=file]").setInputFiles([
    { name: "dot.png", mimeType: "image/png", buffer: PIXEL },
    { name: "drawing.svg", mimeType: "image/svg+xml", buffer: Buffer.from("<svg/>") },
  ]);
  await page.getByText("drawing.svg: only PNG, JPEG, GIF and WebP are taken.").waitFor();
  await page.getByAltText("dot.png").waitFor();
  await say(page, "What is it?");
  await page.getByText(/^cost/).waitFor();
  expect(await conversation(page).locator("img").count()).toBe(1);
  await page.getByRole("button", { name: "As code" }).click();
  await page.getByRole("region", { name: "As code" }).getByText("image_url").first().waitFor();
  expect(told).toEqual([]);
  await page.context().close();
});

test("a budget that does not cover a call is told with what to do", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page } = await opened("?model=weir/sim-large");
  await page.getByLabel("Max tokens").fill("100000");
  await say(page, "A long one");
  await page.getByRole("alert").getByText("The key's daily budget does not cover this request.").waitFor();
  await page
    .getByRole("alert")
    .getByText(/^Request/)
    .waitFor();
  await page.getByText(/The playground has a small budget of the day.* It begins anew at .* UTC/).waitFor();
  expect(await page.getByRole("link", { name: "Set up a client with a key" }).count()).toBe(1);
  await page.getByLabel("Max tokens").fill("10");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText(/^cost/).waitFor();
  await page.context().close();
});

test("tabs of a browser share a secret, and one that another browser ended is asked for again", async ({
  skip,
}) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const { page: first } = await opened();
  const second = await first.context().newPage();
  let asked = 0;
  const count = (request: Request) => {
    if (new URL(request.url()).pathname === "/v1/playground/key") asked += 1;
  };
  first.on("request", count);
  second.on("request", count);
  await second.goto(at("?model=weir/sim-small"));
  for (const [page, answers] of [
    [first, 1],
    [second, 1],
    [first, 2],
  ] as const) {
    await say(page, "Hello");
    await page
      .getByText(/^cost/)
      .nth(answers - 1)
      .waitFor();
  }
  expect(asked).toBe(1);

  const elsewhere = await signInAt(gateway.url, { email: OWNER });
  const [{ id: project }] = (await elsewhere.call("GET", "/v1/projects")).json.data;
  await elsewhere.call("POST", "/v1/playground/key", { body: { project_id: project } });
  await say(second, "Hello again");
  await second.getByText(/^cost/).nth(1).waitFor();
  await say(first, "Hello again");
  await first.getByText(/^cost/).nth(2).waitFor();
  expect(asked).toBe(2);
  await first.context().close();
});

test("a viewer has no playground", async ({ skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const email = "viewer@example.test";
  await gateway.call("POST", "/v1/orgs/first/members", { body: { email, role: "viewer" } });
  await joinAt(gateway.url, { email });
  const { page, told } = await browser.open();
  await signInBy(page, gateway.url, email);
  await page.getByRole("link", { name: "Requests" }).first().waitFor();
  await untilShown(page);
  // By its address: the overview names the key of the playground, whose budget it shows.
  expect(await page.locator('a[href*="/playground"]').count()).toBe(0);
  await page.goto(at(""));
  await page.getByRole("heading", { name: "Not open to your role" }).waitFor();
  expect(told).toEqual([]);
  await page.context().close();
});

describe.each([
  ["wide and light", { width: 1280, height: 800 }, "light"],
  ["narrow and dark", { width: 390, height: 844 }, "dark"],
] as const)("%s", (_, viewport, colorScheme) => {
  test("a comparison with code is whole, and readable for all", async ({ skip }) => {
    skip(CHROMIUM === undefined, NO_BROWSER);
    const { page, told } = await opened("?model=weir/sim-small&with=weir/sim-reasoner", {
      viewport,
      colorScheme,
    });
    await page.getByText("Tools", { exact: true }).click();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("button", { name: "As code" }).click();
    await say(page, `Word${"word".repeat(80)}\n\n\`\`\`\n${"code ".repeat(60)}\n\`\`\`\n [[sim echo]]`);
    await page.getByRole("heading", { name: "The newest answers compared" }).waitFor();
    await untilShown(page);
    for (const each of await page.getByText("Cost, line by line").all()) await each.click();
    expect(await cutOff(page)).toEqual([]);
    expect(await accessFaults(page)).toEqual([]);
    expect(told).toEqual([]);
    await page.context().close();
  });
});
