/**
 * The page Live while 200 events a second come, of real calls to the simulator: an input is answered quickly, and the tab's memory does
 * not grow. Ten minutes in a thorough run; all figures are the browser's own.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  CHROMIUM,
  type ConsoleBrowser,
  NO_BROWSER,
  openBrowser,
  untilShown,
} from "../../support/console/browser.fixtures.ts";
import {
  type Memory,
  memoryMeter,
  openMeasured,
  type Slowest,
  slowestOf,
} from "../../support/console/measured.fixtures.ts";
import { signInBy } from "../../support/console/person.fixtures.ts";
import { amount } from "../../support/effort.ts";
import { type TestGateway, testGateway } from "../../support/gateway.ts";
import { again, rest } from "../../support/pace.ts";
import { onOrdinaryMachine } from "../../support/processor-time.fixtures.ts";
import { until } from "../../support/wait.ts";

const SECONDS = amount(600, 24);
/** A streamed call is told three times: it begins, its first token, it ends. */
const CALLS_A_SECOND = 67;
const EVENTS_OF_A_CALL = 3;
/** Rows of ended calls that the page keeps: from then on it is full. */
const MOST_ENDED = 200;
const PARTS = 8;
const MOST_INPUT_MS = 100;
/**
 * From the most of the first half to the least of the second one. A tab that kept what comes would have 800 calls more then, in the short
 * run: a megabyte, and 20,000 nodes if they were drawn.
 */
const MOST_GROWTH: Memory = { heap: 300_000, nodes: 500, listeners: 50 };

let gateway: TestGateway;
let browser: ConsoleBrowser;
beforeAll(async () => {
  if (CHROMIUM === undefined) return;
  gateway = await testGateway({ engine: true, endpoints: [{ provider: "sim-a" }] });
  browser = await openBrowser(gateway.url);
});
afterAll(async () => {
  await browser?.close();
  await gateway?.stop();
});
beforeEach(({ skip }) => skip(CHROMIUM === undefined, NO_BROWSER));

/** Calls at their rate, however late a turn comes. @returns ends it, once the last one is answered */
function startCalls(): () => Promise<void> {
  const fromMs = performance.now();
  const body = { model: "test/model", stream: true, max_tokens: 16 };
  const running = new Set<Promise<unknown>>();
  let made = 0;
  const stop = again(() => {
    for (; made < ((performance.now() - fromMs) * CALLS_A_SECOND) / 1000; made++) {
      const call = gateway.chat(body).finally(() => running.delete(call));
      running.add(call);
    }
  }, 1000 / CALLS_A_SECOND);
  return async () => {
    stop();
    await Promise.all(running);
  };
}

const endedOn = async (page: Page): Promise<number> => {
  const text = await page.evaluate<string>(
    `[...document.querySelectorAll(".figures > div")].find((each) => each.textContent.startsWith("Ended")).querySelector(".figure-value").textContent`,
  );
  return Number(text.replace(/\D/g, ""));
};

/** Writes into the filter, and clears it: each letter draws both tables again. */
async function type(page: Page): Promise<void> {
  await page.getByLabel("Show only").focus();
  for (const letter of "test/model") {
    await page.keyboard.press(letter);
    await rest(100);
  }
  for (let i = 0; i < "test/model".length; i++) await page.keyboard.press("Backspace");
}

interface Part extends Memory {
  readonly rounds: readonly Slowest[];
  /** A second. */
  readonly events: number;
  /** Share of the time that the page's thread was at work, or waited for a processor. */
  readonly busy: number;
}

/** The least of some figures, the middle one and the most. */
const spanOf = (figures: readonly number[]): string => {
  const ordered = figures.toSorted((a, b) => a - b);
  return [0, Math.floor(ordered.length / 2), ordered.length - 1]
    .map((at) => Math.round(ordered[at] ?? 0))
    .join(", ");
};

const figuresOf = (parts: readonly Part[], rounds: readonly Slowest[]) => ({
  seconds: SECONDS,
  events: spanOf(parts.map(({ events }) => events)),
  busyPercent: spanOf(parts.map(({ busy }) => 100 * busy)),
  taskMs: spanOf(rounds.map(({ taskMs }) => taskMs)),
  inputMs: spanOf(rounds.map(({ inputMs }) => inputMs)),
  heapKb: parts.map(({ heap }) => Math.round(heap / 1000)).join(", "),
  nodes: parts.map(({ nodes }) => nodes).join(", "),
  listeners: spanOf(parts.map(({ listeners }) => listeners)),
});

test("200 events a second: inputs are answered within 100 ms, and the tab's memory is steady", {
  timeout: 3 * SECONDS * 1000 + 300_000,
}, async () => {
  const { page: first } = await browser.open();
  await signInBy(first, gateway.url, "owner@example.test");
  await untilShown(first);
  const { page } = await openMeasured(first.context(), `${gateway.url}/console/first/live`, "main .figures");
  await first.close();
  const meter = await memoryMeter(page);
  const stopCalls = startCalls();
  await until(
    "the page is full",
    () => endedOn(page),
    (ended) => ended > 2 * MOST_ENDED,
  );
  const parts: Part[] = [];
  for (let i = 0; i < PARTS; i++) {
    const [ended, tasks, fromMs] = [await endedOn(page), await meter.taskSeconds(), performance.now()];
    const rounds: Slowest[] = [];
    do rounds.push(await slowestOf(page, () => type(page)));
    while (performance.now() - fromMs < (SECONDS * 1000) / PARTS);
    const seconds = (performance.now() - fromMs) / 1000;
    const events = ((await endedOn(page)) - ended) * EVENTS_OF_A_CALL;
    const busy = (await meter.taskSeconds()) - tasks;
    parts.push({ rounds, ...(await meter.memory()), events: events / seconds, busy: busy / seconds });
  }
  await stopCalls();
  const rate = parts.reduce((sum, { events }) => sum + events, 0) / PARTS;
  expect(rate).toBeGreaterThan(190);
  const rounds = parts.flatMap((part) => part.rounds);
  console.info(figuresOf(parts, rounds));
  const ordered = (of: keyof Slowest) =>
    rounds.map((round) => onOrdinaryMachine(round[of])).toSorted((a, b) => a - b);
  expect(ordered("taskMs").at(-1)).toBeLessThan(MOST_INPUT_MS);
  // The best quarter: what else the machine does delays answers, while the longest task is bounded in every round.
  expect(ordered("inputMs")[Math.floor(rounds.length / 4)]).toBeLessThan(MOST_INPUT_MS);
  const [early, late] = [parts.slice(0, PARTS / 2), parts.slice(PARTS / 2)];
  const growth = (of: keyof Memory) =>
    Math.min(...late.map((part) => part[of])) - Math.max(...early.map((part) => part[of]));
  expect(growth("heap")).toBeLessThan(MOST_GROWTH.heap);
  expect(growth("nodes")).toBeLessThan(MOST_GROWTH.nodes);
  expect(growth("listeners")).toBeLessThan(MOST_GROWTH.listeners);
  expect(await page.locator("[aria-label='Ended calls'] tbody tr").count()).toBe(MOST_ENDED);
  await page.context().close();
});
