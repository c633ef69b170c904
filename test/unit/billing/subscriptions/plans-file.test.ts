/** `plans.yaml`, and what `weir.yaml` says of plans. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CURRENCIES } from "../../../../src/base/currency.ts";
import { isFree, type Plan } from "../../../../src/base/plan.ts";
import { PlanList } from "../../../../src/billing/subscriptions/plan-list.ts";
import { type Config, readConfig } from "../../../../src/host/settings/config.ts";
import { planWarnings } from "../../../../src/host/settings/plan-warnings.ts";

const home = mkdtempSync(join(tmpdir(), "weir-plans-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const LIMITS = "limits: { rpm: 1, tpm: 2, concurrency: 3, keys: 4, projects: 5 }";
const STRIPE = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
let folders = 0;

/** The config of a folder with these files; a fault's text without the folder and the column. */
function read(files: { plans?: string; weir?: string; supplier?: boolean }, env: NodeJS.ProcessEnv = {}) {
  const folder = join(home, `f${++folders}`);
  mkdirSync(folder);
  if (files.plans !== undefined) writeFileSync(join(folder, "plans.yaml"), files.plans);
  if (files.weir !== undefined) writeFileSync(join(folder, "weir.yaml"), files.weir);
  if (files.supplier) writeFileSync(join(folder, "supplier.yaml"), "");
  try {
    return { config: readConfig({ ...env, CONFIG_DIR: folder }) };
  } catch (error) {
    return { fault: (error as Error).message.replaceAll(`${folder}/`, "").replace(/(yaml:\d+):\d+/, "$1") };
  }
}

const shipped = () => readConfig({ CONFIG_DIR: join(import.meta.dirname, "../../../../config") });

test("the shipped plans keep what a fresh start allowed before they had a file", () => {
  const { plans, settings } = shipped();
  expect(settings.default_plan).toBe("local");
  expect(plans.find(({ id }) => id === "local")).toMatchObject({
    limits: {
      rpm: 3_000_000,
      tpm: 3_000_000_000,
      concurrency: 10_000,
      keys: 1_000,
      projects: 100,
      auto_approve: 2,
    },
    features: { sso: true, priority_support: false },
    monthly_minor: { INR: 0, USD: 0 },
    included_micro: 0,
  });
});

test("C10: the shipped limits of a demo are named so, and no plan that anybody may choose", () => {
  const { plans, settings } = shipped();
  const demos = plans.filter(({ demo }) => demo);
  expect(demos).toMatchObject([{ id: "local", name: "Demo", public: false }]);
  const offered = new PlanList(plans, settings.default_plan).offered();
  expect(offered.map(({ id }) => id)).toEqual(["free", "starter", "team", "enterprise"]);
});

test("C10: of the shipped plans a dearer one gives at least as much of everything as a cheaper one", () => {
  const config = shipped();
  const offered = new PlanList(config.plans, config.settings.default_plan).offered();
  /** By name; unlimited is the most. */
  const given = ({ limits, features }: Plan): [string, number][] => {
    const { max_kept_bytes: kept_bytes, max_kept_test_bytes: kept_test_bytes } = config.settings.limits;
    const amounts = Object.entries({ kept_bytes, kept_test_bytes, ...limits });
    return [
      ...amounts.map(([name, most]): [string, number] => [name, most || Number.POSITIVE_INFINITY]),
      ...Object.entries(features).map(([name, has]): [string, number] => [name, Number(has)]),
    ];
  };
  const ascending = offered.toSorted((a, b) => a.monthly_minor.USD - b.monthly_minor.USD);
  expect(isFree(ascending[0] as Plan)).toBe(true);
  for (const [n, cheaper] of ascending.slice(0, -1).entries()) {
    const dearer = ascending[n + 1] as Plan;
    for (const currency of CURRENCIES)
      expect(dearer.monthly_minor[currency]).toBeGreaterThan(cheaper.monthly_minor[currency]);
    const has = new Map(given(dearer));
    for (const [name, amount] of given(cheaper))
      expect(has.get(name), `${name} of ${dearer.id}`).toBeGreaterThanOrEqual(amount);
  }
  expect(planWarnings(config)).toEqual([]);
});

test.each([
  ["a limit", "limits: { rpm: 9, tpm: 2, concurrency: 3, keys: 4, projects: 5 }", "rpm 1 instead of 9"],
  [
    "several",
    "limits: { rpm: 0, tpm: 2, concurrency: 3, keys: 5, projects: 5, kept_bytes: 0 }",
    "rpm 1 instead of unlimited, keys 4 instead of 5, kept_bytes 53687091200 instead of unlimited",
  ],
  ["a feature", `${LIMITS}\n    features: { sso: true }`, "no sso"],
])("C10: a plan with a price that gives less of %s than a cheaper one is warned of", (_, cheap, less) => {
  const priced = (id: string, minor: number) =>
    `  - { id: ${id}, ${LIMITS}, monthly_minor: { INR: ${minor}, USD: ${minor} } }\n`;
  const plans = `plans:\n  - id: local\n    ${cheap}\n${priced("small", 5)}${priced("old", 6).replace(" }\n", ", public: false }\n")}`;
  const { config, fault } = read({ plans, supplier: true });
  expect(fault).toBeUndefined();
  expect(planWarnings(config as Config)).toEqual([
    `plans.yaml: the plan "small" costs more than "local" and gives less: ${less}`,
  ]);
});

test("C10: a demo's plan is not on offer, is not compared, and is warned of where real money is taken", () => {
  const plans = `plans:\n  - { id: local, demo: true, limits: { rpm: 0, tpm: 0, concurrency: 0, keys: 0, projects: 0 } }\n  - { id: small, ${LIMITS}, monthly_minor: { INR: 5, USD: 5 } }\n`;
  const { config } = read({ plans, supplier: true });
  expect(config?.plans.map(({ id, public: isPublic }) => [id, isPublic])).toEqual([
    ["local", false],
    ["small", true],
  ]);
  expect(planWarnings(config as Config)).toEqual([]);
  const { config: real } = read({ plans, supplier: true }, STRIPE);
  expect(planWarnings(real as Config)).toEqual([
    'weir.yaml: default_plan "local" has the limits of a demo, and payments are taken: name a free plan with less than what is sold',
  ]);
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
    "a price for a demo's limits",
    {
      plans: `plans:\n  - id: p\n    ${LIMITS}\n    demo: true\n    monthly_minor: { INR: 5, USD: 5 }\n`,
    },
    "plans.yaml:4 /plans/0/demo: a demo's limits are not sold: leave out demo, or the price",
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
