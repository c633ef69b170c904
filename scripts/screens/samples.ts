/** What of a demo its views show: requests of each kind, a key, models. */
import { APPS, MEMBERS, NEWCOMER, OWNER } from "../demo/cast.ts";
import { CANARY_MODEL, DEMO_PLAN, FAILING } from "../demo/catalog.ts";
import { Person } from "../demo/person.ts";
import { ECONOMY, ECONOMY_VERSIONS } from "../demo/policies.ts";
import { TRIAL_MODEL, TRIAL_POLICY } from "../demo/trials.ts";
import { ANSWERING } from "../demo/webhooks.ts";
import { until } from "../demo/world.ts";

/** Ids. */
export interface Samples {
  /** Requests: answered with a kept conversation, with tools, failed, refused, answered by the second endpoint. */
  readonly answered: string;
  readonly tools: string;
  readonly failed: string;
  readonly refused: string;
  readonly fallback: string;
  readonly key: string;
  readonly model: string;
  readonly otherModel: string;
  /** Ids of the organisation, and of a provider, as the operator's pages have them. */
  readonly org: string;
  readonly provider: string;
  readonly plan: string;
  /** A paid top-up that may be refunded, and its invoice. */
  readonly topup: string;
  readonly invoice: string;
  /** A webhook whose receiver has answered, its delivery that failed, and the event of that. */
  readonly webhook: string;
  readonly delivery: string;
  readonly event: string;
  /** An app that everybody may see. */
  readonly app: string;
  /** Tickets: one that waits for a decision, one that is decided. */
  readonly ticket: string;
  readonly decidedTicket: string;
  readonly project: string;
  /** The owner, the member who made keys, and somebody who was invited. */
  readonly owner: string;
  readonly member: string;
  readonly invited: string;
  /** That of another organisation to the owner. */
  readonly invitation: string;
  /** A top-up of which a part went back. */
  readonly refundedTopup: string;
  readonly creditNote: string;
  /** The one of the plan's fee. */
  readonly statement: string;
  /** A policy with versions of each status, by name, and the number of one. */
  readonly policy: string;
  readonly policyVersion: string;
  /** A policy with an experiment, a shadow and a canary; its second version is a draft that refuses calls. */
  readonly trialPolicy: string;
  readonly trialModel: string;
}

interface Listed {
  readonly request_id: string;
  readonly status: string;
  readonly attempts: number;
  readonly stop_reason: string;
  /** Its payload is kept. */
  readonly logged: boolean;
}

interface Topup {
  readonly id: string;
  readonly status: string;
  readonly invoice_id?: string;
}

/** Pages of the feed that are looked through: the real calls, which come first, are on them. */
const MOST_PAGES = 8;

/** @throws Error where the demo has none of a kind */
export async function samplesOf(owner: Person): Promise<Samples> {
  const { data: keys } = await owner.call<{ data: { id: string; name: string }[] }>(
    "GET",
    "/v1/keys?limit=100",
  );
  const { data: topups } = await owner.call<{ data: Topup[] }>("GET", "/v1/credits/topups?limit=100");
  const paid = topups.find(({ status }) => status === "paid");
  const { data: documents } = await owner.call<{ data: { id: string; kind: string }[] }>(
    "GET",
    "/v1/invoices?limit=100",
  );
  const documentOf = (wanted: string) => documents.find(({ kind }) => kind === wanted)?.id ?? "";
  return {
    answered: await requestOf(owner, "status=ok", ({ logged, stop_reason: why }) => logged && why === "stop"),
    tools: await requestOf(
      owner,
      "status=ok",
      ({ logged, stop_reason: why }) => logged && why === "tool_calls",
    ),
    failed: await requestOf(owner, "status=error", () => true),
    refused: await requestOf(owner, "status=rejected", () => true),
    fallback: await requestOf(owner, "fallbacks_only=true&status=ok", ({ attempts }) => attempts > 1),
    key: keys.find(({ name }) => name.startsWith("support/"))?.id ?? "",
    model: CANARY_MODEL,
    otherModel: "anthropic/claude-sonnet-5",
    org: (await owner.call<{ active_org: string }>("GET", "/auth/me")).active_org,
    provider: FAILING,
    plan: DEMO_PLAN,
    topup: paid?.id ?? "",
    invoice: paid?.invoice_id ?? "",
    ...(await hooksOf(owner)),
    app: APPS[0].slug,
    ...(await ticketsOf(owner)),
    ...(await peopleOf(owner)),
    refundedTopup: topups.find(({ status }) => status === "partially_refunded")?.id ?? "",
    creditNote: documentOf("credit_note"),
    statement: documentOf("statement"),
    policy: ECONOMY,
    policyVersion: String(ECONOMY_VERSIONS.length),
    trialPolicy: TRIAL_POLICY,
    trialModel: TRIAL_MODEL,
  };
}

async function peopleOf(owner: Person) {
  const { data: projects } = await owner.call<{ data: { id: string; slug: string }[] }>(
    "GET",
    "/v1/projects",
  );
  const { data: members } = await owner.call<{ data: { user_id: string; email: string }[] }>(
    "GET",
    "/v1/orgs/first/members",
  );
  const { data: invitations } = await owner.call<{ data: { id: string }[] }>("GET", "/auth/invitations");
  const idOf = (email = "") => members.find((member) => member.email === email)?.user_id ?? "";
  return {
    project: projects.find(({ slug }) => slug === "support")?.id ?? "",
    owner: idOf(OWNER.email),
    member: idOf(MEMBERS.find(({ role }) => role === "member")?.email),
    invited: idOf(NEWCOMER.email),
    invitation: invitations[0]?.id ?? "",
  };
}

/** Lists that are short: one page has all of it. */
const listOf = async <T>(owner: Person, path: string): Promise<readonly T[]> =>
  (await owner.call<{ data: readonly T[] }>("GET", path)).data;

async function hooksOf(owner: Person): Promise<Pick<Samples, "webhook" | "delivery" | "event">> {
  const webhooks = await listOf<{ id: string; description: string }>(owner, "/v1/webhooks");
  const webhook = webhooks.find(({ description }) => description === ANSWERING)?.id ?? "";
  const [failed] = await listOf<{ id: string; event_id: string }>(
    owner,
    `/v1/webhooks/${webhook}/deliveries?status=failed`,
  );
  if (failed === undefined) throw new Error("the demo has no delivery that failed");
  return { webhook, delivery: failed.id, event: failed.event_id };
}

async function ticketsOf(owner: Person): Promise<Pick<Samples, "ticket" | "decidedTicket">> {
  const tickets = await listOf<{ id: string; kind: string; status: string }>(owner, "/v1/tickets");
  const raised = tickets.filter(({ kind }) => kind === "limit_increase");
  const [open, decided] = [
    raised.find(({ status }) => status === "open"),
    raised.find(({ status }) => status === "approved"),
  ];
  if (open === undefined || decided === undefined)
    throw new Error("the demo lacks a ticket that is open, or one that is decided");
  return { ticket: open.id, decidedTicket: decided.id };
}

async function requestOf(
  owner: Person,
  filters: string,
  isWanted: (call: Listed) => boolean,
): Promise<string> {
  let cursor = "";
  for (let page = 0; page < MOST_PAGES; page++) {
    const { data = [], next_cursor: next = "" } = await owner.call<{ data?: Listed[]; next_cursor?: string }>(
      "GET",
      `/v1/requests?limit=100&${filters}&cursor=${encodeURIComponent(cursor)}`,
    );
    const found = data.find(isWanted);
    if (found !== undefined) return found.request_id;
    if (next === "") break;
    cursor = next;
  }
  throw new Error(`the demo has no request of ${filters}`);
}

/** The owner, once ClickHouse answers. */
export async function ownerAt(url: string): Promise<Person> {
  const owner = await Person.signIn(url, OWNER);
  await until("requests are answered", async () => {
    const page = await owner.call<{ data?: unknown[] }>("GET", "/v1/requests?limit=1", undefined, [503]);
    return (page.data?.length ?? 0) > 0;
  });
  return owner;
}

/** Streams that last until they are ended, so that something runs; one of them is detached. */
export interface RunningCalls {
  end(): Promise<void>;
}

const RUNNING = ["openai/gpt-5.4", "google/gemini-3.5-flash", "openai/gpt-5.4-mini"] as const;

const LASTS = "[[sim tokens=6000 gap_ms=100]]";

/** What the detached call says, for someone to read: again and again, so that it lasts as long as the others. */
const REPORT = `The night run read 1,240 tickets of the last seven days. Most of them ask about invoices: a third names a wrong address, a quarter
a missing tax number. Two are urgent, and both come from the same customer, whose export fails since Tuesday.

I looked at the export first. It ends after the page on which a customer's name has a line break; the twelve pages before it are whole.
A fix is in the branch "export-names", with a test that fails without it.

Next I answer what is about addresses, since one letter does for all of these.

`;
const SAYS = `${REPORT.replaceAll(/(?<!\n)\n(?!\n)/g, " ").repeat(15)} [[sim echo gap_ms=400]]`;

export async function runCalls(url: string, owner: Person): Promise<RunningCalls> {
  const { data: projects } = await owner.call<{ data: { id: string }[] }>("GET", "/v1/projects");
  const name = "tools/watch-live";
  const { secret } = await owner.call<{ secret: string }>("POST", "/v1/keys", {
    name,
    project_id: projects[0]?.id,
  });
  const over = new AbortController();
  const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const begin = (model: string, content: string, on_disconnect = "cancel") =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      signal: over.signal,
      headers,
      body: JSON.stringify({
        model,
        stream: true,
        messages: [{ role: "user", content }],
        svc: { on_disconnect },
      }),
    });
  const call = async (model: string, text: string) => {
    await (await begin(model, text)).text();
  };
  const quietly = (done: Promise<void>) => void done.catch(() => undefined);
  for (const model of RUNNING) quietly(call(model, LASTS));
  const detached = await begin(RUNNING[0], SAYS, "detach");
  const short = setInterval(() => quietly(call("openai/gpt-5.4-mini", "[[sim tokens=5 gap_ms=50]]")), 1000);
  return {
    async end() {
      clearInterval(short);
      over.abort();
      // It would go on without its client.
      const id = detached.headers.get("x-svc-request-id");
      await fetch(`${url}/v1/generation/${id}/cancel`, { method: "POST", headers });
    },
  };
}
