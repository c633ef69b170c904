/**
 * Tabs of one browser share one live stream, since over HTTP/1.1 a browser has six connections for all of them: each shows every call
 * once, whoever reads the stream, whoever comes and whoever goes.
 */
import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { joinAt, signInAt } from "../../support/console.fixtures.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { LiveClient } from "../../support/live/live-client.ts";
import { equals, until } from "../../support/wait.ts";

const OWNER = "owner@example.test";
const TABS = 7;
/** Streams that a gateway has open for an org at once. */
const MOST_OF_ORG = 200;

let gateway: TestGateway;
let browser: ConsoleBrowser;
let state: Exclude<BrowserContextOptions["storageState"], undefined>;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({ engine: true });
  await signInAt(gateway.url, { email: OWNER });
  browser = await openBrowser(gateway.url);
  const { page } = await browser.open();
  await signInBy(page, gateway.url, OWNER);
  state = await page.context().storageState();
  await page.context().close();
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});
beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER));

/** A window of a browser of its own. @param before runs in each of its tabs before the page's scripts */
async function openWindow(before = "") {
  const { page, told } = await browser.open({ storageState: state });
  const context = page.context();
  await context.addInitScript(`${HEARS};${before}`);
  /** Tabs that asked for the stream, in their order, each with the position that it asked to go on from; and those that left it. */
  const asked: { readonly page: Page; readonly after: string }[] = [];
  context.on("request", (request) => {
    if (new URL(request.url()).pathname !== "/v1/live") return;
    asked.push({ page: request.frame().page(), after: request.headers()["last-event-id"] ?? "" });
  });
  const left: Page[] = [];
  context.on("requestfailed", (request) => {
    if (new URL(request.url()).pathname === "/v1/live") left.push(request.frame().page());
  });
  const openTab = async (): Promise<Page> => {
    const tab = await context.newPage();
    await tab.goto(`${gateway.url}/console/first/live`);
    await tab.getByRole("heading", { name: "Live", level: 1 }).waitFor();
    return tab;
  };
  const openTabs = async (count: number) => {
    const tabs: Page[] = [];
    for (let i = 0; i < count; i++) tabs.push(await openTab());
    for (const tab of tabs) await untilShown(tab);
    return tabs;
  };
  return { asked, left, told, openTab, openTabs, close: () => context.close() };
}

/** Ids of calls whose ends came to a tab from another one, and the position behind them. */
const HEARS = `
  globalThis.heard = [];
  const Channel = BroadcastChannel;
  globalThis.BroadcastChannel = class extends Channel {
    constructor(name) {
      super(name);
      this.addEventListener("message", ({ data }) => {
        if (data.kind === "events") heard.push(...data.events.filter((event) => event.name === "call.ended"));
      });
    }
  }`;
const heardBy = (tab: Page) =>
  tab.evaluate<{ id: string; data: { request_id: string } }[]>("globalThis.heard");

/** From now on timers wait, as those of a tab that is not looked at may for a minute; until `lookAt`. */
const lookAway = (tab: Page) =>
  tab.evaluate(`(() => {
    globalThis.timely = setTimeout;
    globalThis.late = [];
    globalThis.setTimeout = (act, ms, ...rest) => ms < 100 ? timely(act, ms, ...rest) : (late.push(act), 0);
  })()`);
const lookAt = (tab: Page) =>
  tab.evaluate("(() => { globalThis.setTimeout = timely; for (const act of late) act(); })()");

const call = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await gateway.chat(body)).headers.get("x-svc-request-id") ?? "";

/** Ids of the calls that a tab shows as ended, and how many it says ended. */
const shownBy = (tab: Page) =>
  tab.evaluate<{ ids: string[]; count: string }>(`({
    ids: [...document.querySelectorAll("[aria-label='Ended calls'] tbody tr td:last-child")].map((cell) => cell.textContent),
    count: [...document.querySelectorAll(".figures > div")].find((each) => each.textContent.startsWith("Ended"))
      ?.querySelector(".figure-value").textContent,
  })`);

/** Each of the tabs shows each of the calls, once. */
async function untilEachShows(tabs: readonly Page[], ids: readonly string[]): Promise<void> {
  const wanted = { ids: ids.toSorted(), count: String(ids.length) };
  for (const tab of tabs) {
    const shown = async () => {
      const { ids: now, count } = await shownBy(tab);
      return { ids: now.toSorted(), count };
    };
    await until("each call is shown once", shown, equals(wanted));
  }
}

/** Streams that the gateway has open for the org: those that it has no place for. */
async function streamsAtGateway(): Promise<number> {
  const headers = { authorization: `Bearer ${gateway.liveKey}` };
  const clients = await Promise.all(
    Array.from({ length: MOST_OF_ORG }, () => LiveClient.open(gateway.url, "kinds=events", headers)),
  );
  for (const client of clients) client.leave();
  return clients.filter(({ status }) => status !== 200).length;
}

test("seven tabs have one stream, all show every call, and each page of theirs is answered", async () => {
  const { asked, told, openTabs, close } = await openWindow();
  const tabs = await openTabs(TABS);
  const ids = await Promise.all([call(), call({ stream: true }), call({ model: "no/such" })]);
  await untilEachShows(tabs, ids);
  expect(asked.map(({ page }) => page)).toEqual([tabs[0]]);
  expect(await streamsAtGateway()).toBe(1);
  for (const tab of tabs.slice(1)) {
    await tab.goto(`${gateway.url}/console/first/keys`);
    await tab.getByRole("link", { name: "First live key" }).waitFor();
    await untilShown(tab);
  }
  const later = await call();
  await untilEachShows(tabs.slice(0, 1), [...ids, later]);
  expect(told).toEqual([]);
  await close();
});

test("the tab that reads is closed: another goes on behind what came, and no call is lost or shown twice", async () => {
  const { asked, openTabs, close } = await openWindow();
  const [reader, ...others] = (await openTabs(3)) as [Page, Page, Page];
  const early = await call();
  await untilEachShows([reader, ...others], [early]);
  // What came last is heard and not drawn yet.
  for (const tab of others) await lookAway(tab);
  const heard = await call();
  const last = await Promise.all(
    others.map((tab) =>
      until(
        "it is heard",
        () => heardBy(tab),
        (ends) => ends.at(-1)?.data.request_id === heard,
      ),
    ),
  );
  await reader.close();
  const between = [await call(), await call({ stream: true })];
  await until("another tab reads", () => asked.length === 2);
  expect(asked[1]?.page).toBe(others[0]);
  expect(asked[1]?.after).toBe(last[0]?.at(-1)?.id);
  const later = await call();
  for (const tab of others) await lookAt(tab);
  await untilEachShows(others, [early, heard, ...between, later]);
  await close();
});

test("a tab that is opened knows at once what the one that reads has heard, drawn or not", async () => {
  const { openTab, openTabs, close } = await openWindow();
  const [reader] = (await openTabs(1)) as [Page];
  const drawn = await call();
  await untilEachShows([reader], [drawn]);
  await lookAway(reader);
  // The answer of the API comes behind the event, which goes out with it.
  const ids = [drawn, await call()];
  await until("it has come", () => reader.evaluate("late.length > 0"));
  const opened = await openTab();
  await untilEachShows([opened], ids);
  await lookAt(reader);
  ids.push(await call());
  await untilEachShows([reader, opened], ids);
  await close();
});

test("a tab of another person of this browser is told nothing by tabs of the one before", async () => {
  const email = "viewer@example.test";
  await gateway.call("POST", "/v1/orgs/first/members", { body: { email, role: "viewer" } });
  const viewer = await joinAt(gateway.url, { email });
  const { asked, openTab, openTabs, close } = await openWindow();
  const [before] = (await openTabs(1)) as [Page];
  const seen = await call();
  await untilEachShows([before], [seen]);
  const [, value = ""] = /svc_session=([^;]+)/.exec(viewer.cookie) ?? [];
  await before.context().addCookies([{ name: "svc_session", value, url: gateway.url }]);
  const opened = await openTab();
  await until("it reads for itself", () => asked.length === 2);
  const later = await call();
  await untilEachShows([before], [seen, later]);
  await untilEachShows([opened], [later]);
  await close();
});

test("without locks each tab that is seen reads for itself, and one that is hidden leaves its connection to others", async () => {
  const { asked, left, openTabs, close } = await openWindow(
    "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })",
  );
  const tabs = (await openTabs(2)) as [Page, Page];
  const ids = [await call()];
  await untilEachShows(tabs, ids);
  expect(asked.map(({ page }) => page)).toEqual(tabs);
  const see = (tab: Page, is: string) =>
    tab.evaluate(`(() => {
      Object.defineProperty(document, "visibilityState", { value: "${is}", configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    })()`);
  await see(tabs[1], "hidden");
  await until("the hidden tab leaves the stream", () => left.length === 1);
  expect(left).toEqual([tabs[1]]);
  ids.push(await call());
  await untilEachShows(tabs.slice(0, 1), ids);
  await see(tabs[1], "visible");
  await untilEachShows(tabs, ids);
  await close();
});
