/** A detached call is watched in a browser at one cell while another runs it: from Live to its end, when it is cancelled, and when its cell is killed. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
} from "../../support/console/browser.fixtures.ts";
import { type BrowserPerson, personAt } from "../../support/console/person.fixtures.ts";
import { begin, eventsIn, leftAfter, resumed } from "../../support/detached/fixtures.ts";
import { missingRedis } from "../../support/redis-server.ts";
import { until } from "../../support/wait.ts";
import { by, DetachedCells } from "../inference/exchange/detached/cells-rig.ts";

const missing = CHROMIUM === undefined ? NO_BROWSER : missingRedis();
let cells: DetachedCells;
let browser: ConsoleBrowser;
/** She looks at the first cell. */
let ada: BrowserPerson;
beforeAll(async () => {
  if (missing !== undefined) return;
  cells = await DetachedCells.open();
  browser = await openBrowser(cells.gateway.url);
  ada = await personAt(browser, cells.gateway.url, "ada@example.test");
});
afterAll(async () => {
  await browser?.close();
  await cells?.close();
});
beforeEach(({ skip }) => skip(missing !== undefined, missing));

const open = (path: string) => ada.page.goto(`${cells.at(0).url}/console/first/${path}`);
const shown = () => ada.page.locator("main");
const state = (word: string) => shown().getByText(word, { exact: true }).waitFor();
/** The text of the answer. */
const said = () =>
  ada.page.evaluate<string>(
    "[...document.querySelectorAll('.turn .said')].map((each) => each.textContent).join('')",
  );

/** The text of a call's answer, as its own stream at its own cell has it. */
async function saidOf(id: string): Promise<string> {
  const { text } = await resumed(cells.at(1), id);
  const chunks = eventsIn(text).map((event) => /^data: (\{.*\})$/m.exec(event)?.[1] ?? "{}");
  return chunks.map((chunk) => JSON.parse(chunk).choices?.[0]?.delta.content ?? "").join("");
}

test("it is opened from Live, and watched to its end", async () => {
  await open("live");
  const { id } = await leftAfter(cells.at(1), "chat", 1, { svc: by("slow") });
  await ada.page.getByRole("link", { name: `Watch ${id}` }).click();
  await state("running");
  await state("ended");
  expect(await said()).toBe(await saidOf(id));
  expect(await shown().getByText("test/model", { exact: true }).count()).toBe(1);
});

test("it is cancelled, and its end is shown", async () => {
  const { id } = await leftAfter(cells.at(1), "chat", 20, { svc: by("stalls") });
  await open(`live/${id}`);
  await until("it is shown", said, (text) => text.length > 50);
  await ada.page.getByRole("button", { name: "Cancel call" }).click();
  const question = ada.page.getByRole("dialog", { name: "Cancel this call?" });
  await question.getByRole("button", { name: "Cancel call" }).click();
  await state("failed");
  expect(await shown().locator(".note[data-tone=bad]").textContent()).toContain("was cancelled");
  expect(await said()).toBe(await saidOf(id));
});

test("its cell is killed: the page says that it is not reached, and shows how the call ended once it is back", async () => {
  const owner = await cells.start("owner");
  const { id } = await leftAfter(owner, "chat", 20, { svc: by("stalls") });
  // What was said is stored ten times a second: before another call has ended.
  await (await begin(owner, "chat", { svc: by("slow") })).text();
  await open(`live/${id}`);
  await until("it is shown", said, (text) => text.length > 50);
  const before = await said();
  const later = await ada.page.context().newPage();
  await cells.kill("owner");
  await later.goto(`${cells.at(0).url}/console/first/live/${id}`);
  const main = later.locator("main");
  await main
    .getByRole("alert")
    .getByText("A gateway that may have this call cannot be reached now.")
    .waitFor();
  await main.getByText("not reached", { exact: true }).waitFor();
  expect(await main.getByText("It has said nothing yet.").count()).toBe(0);
  await cells.start("owner");
  for (const at of [shown(), main]) {
    await at.getByText("failed", { exact: true }).waitFor();
    await at.getByText("The gateway that made this call ended before the call did.").waitFor();
    expect(await at.locator(".turn .said").textContent()).toBe(before);
    expect(await at.getByRole("alert").count()).toBe(0);
  }
});
