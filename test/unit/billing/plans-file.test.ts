/** `plans.yaml`, and what `weir.yaml` says of plans. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { readConfig } from "../../../src/config.ts";

const home = mkdtempSync(join(tmpdir(), "weir-plans-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const LIMITS = "limits: { rpm: 1, tpm: 2, concurrency: 3, keys: 4, projects: 5 }";
let folders = 0;

/** The config of a folder with these files; a fault's text without the folder and the column. */
function read(files: { plans?: string; weir?: string }) {
  const folder = join(home, `f${++folders}`);
  mkdirSync(folder);
  if (files.plans !== undefined) writeFileSync(join(folder, "plans.yaml"), files.plans);
  if (files.weir !== undefined) writeFileSync(join(folder, "weir.yaml"), files.weir);
  try {
    return { config: readConfig({ CONFIG_DIR: folder }) };
  } catch (error) {
    return { fault: (error as Error).message.replaceAll(`${folder}/`, "").replace(/(yaml:\d+):\d+/, "$1") };
  }
}

test("the shipped plans keep what a fresh start allowed before they had a file", () => {
  const { plans, settings } = readConfig({ CONFIG_DIR: join(import.meta.dirname, "../../../config") });
  expect(settings.default_plan).toBe("local");
  expect(plans.find(({ id }) => id === "local")).toMatchObject({
    limits: {
      ...{ rpm: 3_000_000, tpm: 3_000_000_000, concurrency: 10_000 },
      ...{ keys: 1_000, projects: 100, auto_approve: 2 },
    },
    features: { sso: true, priority_support: false },
    ...{ public: true, monthly_minor: { INR: 0, USD: 0 }, included_micro: 0 },
  });
  expect(plans.map(({ id }) => id)).toEqual(["local", "starter", "team", "enterprise"]);
});

test("without the file there is the plan local", () => {
  expect(read({}).config?.plans.map(({ id }) => id)).toEqual(["local"]);
});

test.each([
  [
    "an unknown key",
    { plans: `plans:\n  - id: local\n    ${LIMITS}\n    feature: {}\n` },
    'plans.yaml:4 /plans/0/feature: unknown key "feature"; did you mean "features"?',
  ],
  [
    "a price in one currency only",
    {
      plans: `plans:\n  - { id: local, ${LIMITS} }\n  - id: p\n    ${LIMITS}\n    monthly_minor: { INR: 5, USD: 0 }\n`,
    },
    "plans.yaml:5 /plans/1/monthly_minor: a plan is free in all currencies, or in none",
  ],
  [
    "credit in a free plan",
    { plans: `plans:\n  - id: local\n    ${LIMITS}\n    included_micro: 5\n` },
    "plans.yaml:4 /plans/0/included_micro: a free plan includes no credit: it would be given every month to everybody",
  ],
  [
    "two plans of one id",
    { plans: `plans:\n  - { id: local, ${LIMITS} }\n  - { id: local, ${LIMITS} }\n` },
    'plans.yaml:3 /plans/1/id: there are two plans "local"',
  ],
  [
    "a default plan that does not exist",
    { weir: "grant_usd: 1\ndefault_plan: gold\n" },
    'weir.yaml:2 /default_plan: no plan of plans.yaml has the id "gold"',
  ],
  [
    "a default plan with a price",
    {
      plans: `plans:\n  - { id: gold, ${LIMITS}, monthly_minor: { INR: 5, USD: 5 } }\n`,
      weir: "default_plan: gold\n",
    },
    'weir.yaml:1 /default_plan: the plan "gold" has a price: new orgs get a free one',
  ],
  [
    "a price without somebody who takes it",
    {
      plans: `plans:\n  - { id: local, ${LIMITS} }\n  - { id: p, ${LIMITS}, monthly_minor: { INR: 5, USD: 5 } }\n`,
    },
    'plans.yaml: the plan "p" has a price, and there is no supplier.yaml, which says who takes it',
  ],
  [
    "plans where they stood before",
    { weir: "plans:\n  - { id: local, rpm: 0 }\n" },
    'weir.yaml:2 /plans: plans stand in plans.yaml now: move the list there, with rpm, tpm, concurrency, keys, projects and auto_approve of each under "limits"',
  ],
])("%s refuses the start, and names the place", (_case, files, fault) => {
  expect(read(files).fault).toBe(fault);
});
