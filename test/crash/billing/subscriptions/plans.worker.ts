/**
 * The process that the crash test of subscriptions kills: it lets days pass for a few orgs, which are renewed, change their plans
 * and let credit expire. Run: `node test/crash/billing/subscriptions/plans.worker.ts <folder> <first day> <last day> [step]`. Lines: `day <n>` when all
 * of a day is committed, `done` at the end. Where a step is given, it kills itself at that one: before and behind each act.
 */
import { newOrg } from "../../../../src/account/org.ts";
import { DAY, openPlans } from "../../../support/billing/plans.fixtures.ts";
import { say } from "../../../support/say.ts";
import { killedAt } from "../../../support/store/steps.ts";

const [folder = "", first = "0", last = "0", step = "0"] = process.argv.slice(2);
const START = Date.parse("2026-01-31T10:00:00Z");
const SLUGS = ["one", "two", "three", "four"];
/** Which plan on which day; the second org's credit is too little for three months. */
const CHOICES: Readonly<Record<string, string>> = {
  "one 0": "team",
  "two 0": "team",
  "three 0": "starter",
  "four 0": "team",
  "three 40": "business",
  "three 50": "starter",
  "four 70": "local",
};

const { around } = killedAt(Number(step));
const plans = openPlans({ folder, actsTwice: false, around });
plans.clock.set(START);
for (const slug of SLUGS) {
  if (plans.rooms.accounts.orgBySlug(slug) !== undefined) continue;
  const given = { slug, name: slug, kind: "team", billingCountry: "US", planId: "local" } as const;
  await plans.addOrg(newOrg(given, START), slug === "two" ? 250_000_000 : 5_000_000_000);
}
for (let day = Number(first); day <= Number(last); day++) {
  plans.clock.set(START + day * DAY);
  for (const slug of SLUGS) {
    const org = plans.rooms.accounts.orgBySlug(slug);
    if (org === undefined) throw new Error(`${slug} is gone`);
    await plans.runJobs(org.id);
    const planId = CHOICES[`${slug} ${day}`];
    if (planId !== undefined) await plans.choose(org, planId, undefined, `day-${day}`);
  }
  say(`day ${day}`);
}
say("done");
await plans.dispose();
