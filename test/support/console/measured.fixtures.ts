/**
 * What a browser itself measures of a page: when its main content is shown, how long an input waits for its answer on the screen, and
 * how much memory the page holds. No clock of the test's is in these figures.
 */
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { until } from "../wait.ts";

const SHOWN = "main content is shown";

/** Opens an address in a new tab. @returns the tab, and the milliseconds from the navigation to the frame that shows the selector */
export async function openMeasured(context: BrowserContext, address: string, selector: string) {
  const page = await context.newPage();
  await page.addInitScript(`
    new MutationObserver((_, watch) => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return;
      watch.disconnect();
      // The second frame begins when the first one is painted.
      requestAnimationFrame(() => requestAnimationFrame(() => performance.mark(${JSON.stringify(SHOWN)})));
    }).observe(document, { childList: true, subtree: true });
    globalThis.slowInputs = [];
    new PerformanceObserver((found) => slowInputs.push(...found.getEntries().map(({ duration }) => duration)))
      .observe({ type: "event", durationThreshold: 16 });
  `);
  await page.goto(address);
  const ms = await until(SHOWN, () =>
    page.evaluate<number | undefined>(`performance.getEntriesByName(${JSON.stringify(SHOWN)})[0]?.startTime`),
  );
  return { page, shownMs: ms ?? 0 };
}

export interface Slowest {
  /** Milliseconds from an input to the next frame behind what it caused, at most (Event Timing); 0 where all were under 16. */
  readonly inputMs: number;
  /** Milliseconds of a processor that the longest task of a page's thread took: what else the machine does is not in it. */
  readonly taskMs: number;
}

/** The slowest input of a page that was opened by `openMeasured`, and the longest task, while something is done. */
export async function slowestOf(page: Page, act: () => Promise<unknown>): Promise<Slowest> {
  const browser = page.context().browser() as Browser;
  await page.evaluate("slowInputs = []");
  await browser.startTracing(page, { categories: ["toplevel"] });
  await act();
  // What was observed is handed on in a turn behind the frame.
  await page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))",
  );
  const trace: { readonly traceEvents: readonly TraceEvent[] } = JSON.parse(
    String(await browser.stopTracing()),
  );
  const inputMs = await page.evaluate<number>("Math.max(0, ...slowInputs)");
  return { inputMs, taskMs: longestTaskMs(trace.traceEvents) };
}

/** An event of the browser's trace. Times are microseconds. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** What a processor spent on it. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

function longestTaskMs(events: readonly TraceEvent[]): number {
  const threads = new Set<string>();
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
  for (const event of events) {
    if (event.name === "thread_name" && event.args.name === "CrRendererMain") threads.add(threadOf(event));
  }
  const tasks = events.filter((event) => event.name.endsWith("RunTask") && threads.has(threadOf(event)));
  if (tasks.length === 0) throw new Error("the browser told of no task of a page");
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur), 0) / 1000;
}

export interface Memory {
  /** Bytes of scripts' objects that are still in use. */
  readonly heap: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What the page's thread and its memory are asked by. */
export async function memoryMeter(page: Page) {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const read = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return new Map(metrics.map(({ name, value }) => [name, value]));
  };
  return {
    /** After collections: what only waits to be collected does not count. */
    async memory(): Promise<Memory> {
      for (let i = 0; i < 3; i++) await session.send("HeapProfiler.collectGarbage");
      const all = await read();
      return {
        heap: all.get("JSHeapUsedSize") ?? 0,
        nodes: all.get("Nodes") ?? 0,
        listeners: all.get("JSEventListeners") ?? 0,
      };
    },
    /** Seconds that tasks of the page's thread took so far. */
    taskSeconds: async () => (await read()).get("TaskDuration") ?? 0,
  };
}
