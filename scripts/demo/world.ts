/** Makes the organisation of a demo by the public API alone, as its people would: what a test reads back, it reads by the same routes. */
import { setTimeout as pause } from "node:timers/promises";
import { makeAccess } from "./access.ts";
import { APPS, KEYS, type KeyPlan, MEMBERS, OWNER, PROJECTS, type ProjectSlug } from "./cast.ts";
import { DEMO_PLAN } from "./catalog.ts";
import { invitePeople } from "./people.ts";
import { Person } from "./person.ts";
import { makePolicies } from "./policies.ts";
import { askTickets } from "./tickets.ts";
import { makeWebhooks } from "./webhooks.ts";

export interface DemoKey {
  readonly id: string;
  readonly name: string;
  readonly project: ProjectSlug;
  readonly projectId: string;
  readonly environment: "live" | "test";
  readonly secret: string;
}

export interface World {
  readonly owner: Person;
  readonly orgId: string;
  readonly keys: readonly DemoKey[];
  readonly projects: ReadonlyMap<ProjectSlug, string>;
}

interface Made {
  readonly id: string;
}
interface Topup extends Made {
  readonly status: string;
}

/** In paise: bought, and what of the second top-up goes back. */
const TOPUPS_MINOR = [1_630_000, 250_000] as const;
const REFUND_MINOR = 100_000;
const LOOK_MS = 100;
const LOOKS = 200;

export async function makeWorld(url: string): Promise<World> {
  const owner = await Person.signIn(url, OWNER);
  const { active_org: orgId } = await owner.call<{ active_org: string }>("GET", "/auth/me");
  await owner.call("PATCH", "/v1/orgs/first", ORG);
  const engineer = await addMembers(url, owner);
  const projects = new Map<ProjectSlug, string>();
  for (const project of PROJECTS)
    projects.set(project.slug, (await owner.call<Made>("POST", "/v1/projects", project)).id);
  const keys = await makeKeys(({ name }) => (name.endsWith("-mei") ? engineer : owner), projects);
  for (const app of APPS) await owner.call("POST", "/v1/apps", { ...app, public: true });
  await makePolicies(owner, projects);
  await makeWebhooks(owner);
  await makeAccess(url, owner);
  await askTickets(url, owner, keys);
  await invitePeople(url, owner);
  return { owner, orgId, keys, projects };
}

const ORG = {
  name: "Meridian Labs",
  legal_name: "Meridian Labs",
  billing_country: "IN",
  billing_email: "billing@example.com",
  billing_address: {
    line1: "1 MG Road",
    city: "Bengaluru",
    state_code: "29",
    postal_code: "560001",
    country: "IN",
  },
  settings: {
    timezone: "Asia/Kolkata",
    credits_low_micro: 160_000_000,
    budget: { monthly_micro: 400_000_000, hard: false, spike_alert_pct: 200 },
  },
  data_policy: { redact: { presets: ["api_key", "card", "email"], patterns: ["MER-[0-9]{6}"] } },
};

/** @returns the one who is a member, and makes keys */
async function addMembers(url: string, owner: Person): Promise<Person> {
  let engineer = owner;
  for (const { email, name, role } of MEMBERS) {
    await owner.call("POST", "/v1/orgs/first/members", { email, role });
    const person = await Person.signIn(url, { email, name });
    await person.join();
    if (role === "member") engineer = person;
  }
  return engineer;
}

async function makeKeys(
  makerOf: (key: KeyPlan) => Person,
  projects: ReadonlyMap<ProjectSlug, string>,
): Promise<DemoKey[]> {
  const keys: DemoKey[] = [];
  for (const plan of KEYS) {
    const { name, project, environment } = plan;
    const projectId = projects.get(project) ?? "";
    const budget = { daily_micro: 5_000_000, hard: true };
    const limits = { rpm: 6_000, tpm: 10_000_000, concurrency: 100 };
    const made = await makerOf(plan).call<Made & { secret: string }>("POST", "/v1/keys", {
      name,
      project_id: projectId,
      environment,
      budget,
      limits,
    });
    keys.push({ id: made.id, secret: made.secret, name, project, projectId, environment });
  }
  return keys;
}

/** Two top-ups that are paid, one of them refunded in part, one that waits, automatic ones by a registered mandate, and a plan. */
export async function buyCredit(owner: Person): Promise<void> {
  const [kept, twice] = TOPUPS_MINOR;
  await paidTopup(owner, kept);
  const path = `/v1/credits/topups/${(await paidTopup(owner, twice)).id}`;
  await owner.call("POST", `${path}/refund`, {
    amount_minor: REFUND_MINOR,
    reason: "Bought twice by mistake",
    idempotency_key: "demo-refund",
  });
  await until(
    "the refund is settled",
    async () => (await owner.call<Topup>("GET", path)).status === "partially_refunded",
  );
  await owner.call("POST", "/v1/credits/topups", { amount_minor: 500_000 });
  const { mandate, url } = await owner.call<{ mandate: Made; url: string }>("POST", "/v1/credits/mandates", {
    method: "card",
  });
  await act(url, "approve");
  const settings = () => owner.call<{ mandate?: Topup }>("GET", "/v1/credits/auto-topup");
  await until("the mandate is registered", async () => {
    const { mandate: now } = await settings();
    return now?.id === mandate.id && now.status === "active";
  });
  await owner.call("PUT", "/v1/credits/auto-topup", {
    enabled: true,
    threshold_micro: 10_000_000,
    amount_minor: 200_000,
  });
  await owner.call("POST", "/v1/billing/subscription", { plan_id: DEMO_PLAN });
}

async function paidTopup(owner: Person, amount_minor: number): Promise<Topup> {
  const { topup, checkout_url } = await owner.call<{ topup: Topup; checkout_url: string }>(
    "POST",
    "/v1/credits/topups",
    { amount_minor },
  );
  await act(checkout_url, "pay");
  const status = async () => (await owner.call<Topup>("GET", `/v1/credits/topups/${topup.id}`)).status;
  await until("the top-up is paid", async () => (await status()) === "paid");
  return topup;
}

/** A button of a page of the simulated payment service. */
async function act(url: string, name: string): Promise<void> {
  const answer = await fetch(url, {
    method: "POST",
    body: new URLSearchParams({ act: name }),
    redirect: "manual",
  });
  if (answer.status >= 400) throw new Error(`${name} at ${url}: ${answer.status}`);
  const back = answer.headers.get("location");
  if (back !== null) await fetch(back);
}

export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (let look = 0; look < LOOKS; look++) {
    if (await isSo()) return;
    await pause(LOOK_MS);
  }
  throw new Error(`${what}: not within ${(LOOKS * LOOK_MS) / 1000} s`);
}
