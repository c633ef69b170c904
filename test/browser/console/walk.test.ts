/**
 * Every view of the console on a demo, as each role and an operator see it, narrow and dark or wide and light: nothing errs, nothing is asked of elsewhere or
 * refused, no text is cut off, all can read it, and a role meets what it may open and no way to the rest.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { MEMBERS, OPERATOR, OWNER } from "../../../scripts/demo/cast.ts";
import { seedInto, startOn } from "../../../scripts/screens/installation.ts";
import {
  ownerAt,
  type RunningCalls,
  runCalls,
  type Samples,
  samplesOf,
} from "../../../scripts/screens/samples.ts";
import type { Gateway } from "../../../src/host/gateway/gateway.ts";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
} from "../../support/console/browser.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { viewsFor, Walk } from "../../support/console/walk.fixtures.ts";

/** As few as have a request of each kind among them. */
const SIZES = { requests: 1000, calls: 150 };

let folder: string;
let gateway: Gateway;
let samples: Samples;
let calls: RunningCalls;
let browser: ConsoleBrowser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  folder = mkdtempSync(join(tmpdir(), "weir-walk-"));
  await seedInto(join(folder, "demo"), SIZES);
  gateway = await startOn(join(folder, "demo"));
  const owner = await ownerAt(gateway.url);
  samples = await samplesOf(owner);
  calls = await runCalls(gateway.url, owner);
  browser = await openBrowser(gateway.url);
});
afterAll(async () => {
  await browser?.close();
  await calls?.end();
  await gateway?.stop();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

const NARROW = [390, 844, "dark"] as const;
const WIDE = [1280, 800, "light"] as const;
/** The owner meets all there is; what the others see is a part, which is looked at in one window. */
const WINDOWS = {
  owner: [NARROW, WIDE],
  admin: [WIDE],
  member: [NARROW],
  billing: [WIDE],
  viewer: [NARROW],
  operator: [NARROW, WIDE],
} as const;

const PEOPLE = [{ ...OWNER, role: "owner" as const }, ...MEMBERS, { ...OPERATOR, role: "operator" as const }];

// Each is somebody of their own. What one role does in two windows is done one after the other: a person has one playground key.
test.concurrent.for(PEOPLE)("$role", async ({ email, name, role }, { skip }) => {
  skip(CHROMIUM === undefined, NO_BROWSER);
  const faults: string[] = [];
  let session: BrowserContextOptions["storageState"];
  for (const [width, height, colorScheme] of WINDOWS[role]) {
    const options = { viewport: { width, height }, colorScheme };
    const watched = await browser.open(
      session === undefined ? options : { ...options, storageState: session },
    );
    if (session === undefined) await signInBy(watched.page, gateway.url, email, name);
    const walk = new Walk(watched, gateway.url, samples, role);
    for (const view of viewsFor(role))
      faults.push(...(await walk.to(view)).map((fault) => `${width}, ${fault}`));
    session = await watched.page.context().storageState();
    await watched.page.context().close();
  }
  expect(faults).toEqual([]);
});
