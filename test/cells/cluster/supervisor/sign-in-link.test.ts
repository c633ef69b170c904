/** The sign-in link that the terminal of several cells shows: the browser's connection picks the cell, and any of them takes it, once. */
import { expect, onTestFinished, test } from "vitest";
import { called, cookiesOf } from "../../../support/identity/oidc.fixtures.ts";
import { MAIN, place, run } from "../../../support/process.fixtures.ts";
import { hasRedis, processesOf, startCells, why } from "../../../support/supervisor/fixtures.ts";
import { until } from "../../../support/wait.ts";

const it = test.skipIf(!hasRedis || process.platform !== "linux");
/** More than enough for each of three cells to get some: the system gives each new connection to one of them. */
const LOOKS = 60;

/** Starts three cells on a terminal of their own. @returns what it shows */
async function onTerminal(): Promise<string> {
  const { env, dataDir } = await place();
  const { output } = run("script", ["-qfec", `'${process.execPath}' '${MAIN}' --cells 3`, "/dev/null"], {
    env: { METRICS_PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => {
    for (const pid of processesOf(dataDir)) process.kill(pid, "SIGKILL");
  });
  await until("the start screen is on the terminal", output, (said) => said.includes("API reference"));
  return output();
}

const times = <T>(count: number, act: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, act));

it(`is open at each cell, signs in one of many who use it, and a session of it counts at each${why}`, async () => {
  const [, link = ""] = /Sign in: (\S+\/auth\/link\/[\w-]{43})\s/.exec(await onTerminal()) ?? [];
  const pages = await times(LOOKS, () => called("GET", link));
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
  expect(pages.filter(({ text }) => !text.includes('<form method="post">'))).toEqual([]);

  const used = await times(LOOKS, () => called("POST", link));
  const [opened, ...others] = used.filter(({ status }) => status === 303);
  if (opened === undefined) throw new Error("nobody is signed in");
  expect(others).toEqual([]);
  const cookie = cookiesOf(opened);
  const seen = await times(LOOKS, () => called("GET", new URL("/auth/me", link).href, { cookie }));
  expect(new Set(seen.map(({ text }) => JSON.parse(text).role))).toEqual(new Set(["owner"]));
  const later = await times(LOOKS, () => called("GET", link));
  expect(later.filter(({ text }) => !text.includes("This link has ended"))).toEqual([]);
});

it(`is not shown in what no terminal reads${why}`, async () => {
  const cells = await startCells(2);
  await cells.allReady();
  await until("the start screen is written", cells.output, (said) => said.includes("API reference"));
  expect(cells.output()).not.toContain("/auth/link");
});
