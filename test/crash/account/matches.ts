/**
 * Acts of the account that many ask for at the same time and that have one outcome: what is prepared, what each caller asks for, and
 * what the API shows of it afterwards.
 */
import { expect } from "vitest";
import type { Answer } from "../../support/gateway.ts";
import { KEY_CAP, type Org, type Person, type World } from "./world.ts";

/** What the API shows, once the act may have happened. */
export interface State {
  /** Ids of what has changed. */
  readonly changed: readonly string[];
  /** The same by each record of it: type of event or act of the audit → ids. */
  readonly records: Readonly<Record<string, readonly string[]>>;
  /** Mails about it, for one change each; undefined where none is sent. */
  readonly mails?: number;
}

/** One act with its callers. */
export interface Match {
  readonly name: string;
  /** Changes there are once all have called; before that there may be fewer, never more. */
  readonly outcomes: number;
  /** Codes of refusals that callers may get. */
  readonly refusals: readonly string[];
  /** The nth caller's call. Each may call again after a restart. */
  call(n: number): Promise<Answer>;
  /** Id of what this answer of success says to have changed; undefined where it does not say so. */
  told(answer: Answer, n: number): string | undefined;
  state(): Promise<State>;
  /** What else was promised by answers of success. */
  check?(told: readonly Told[]): Promise<void>;
  /** Whose webhook hears of it. */
  readonly org?: { readonly org: Org; readonly reader: () => Promise<Person> };
}

export interface Told {
  readonly n: number;
  readonly answer: Answer;
}

export interface People {
  readonly ada: Person;
  readonly ben: Person;
  /** Ada, Ben and some more. */
  readonly all: readonly Person[];
}

export const person = (people: People, n: number): Person => people.all[n % people.all.length] as Person;

/** By type: the ids in a field of an event's data. */
async function eventsOf(world: World, reader: Person, org: Org, type: string, field: string) {
  const events = await world.list("/v1/events", reader, org);
  return events.flatMap((event) => (event.type === type ? [event.data[field] as string] : []));
}

async function targetsOf(world: World, reader: Person, org: Org, act: string): Promise<string[]> {
  const rows = await world.list("/v1/audit", reader, org);
  return rows.flatMap((row) => (row.act === act ? [row.target as string] : []));
}

export async function recordsOf(
  world: World,
  reader: Person,
  org: Org,
  kinds: { readonly events?: Readonly<Record<string, string>>; readonly acts: readonly string[] },
): Promise<Record<string, string[]>> {
  const records: Record<string, string[]> = {};
  for (const [type, field] of Object.entries(kinds.events ?? {})) {
    records[`event ${type}`] = await eventsOf(world, reader, org, type, field);
  }
  for (const act of kinds.acts) records[`audit ${act}`] = await targetsOf(world, reader, org, act);
  return records;
}

export async function sameSlug(world: World, people: People): Promise<Match> {
  const slug = world.slug();
  const body = { slug, name: slug, billing_country: "US" };
  const orgs = async () => {
    const found = [];
    for (const owner of people.all) {
      for (const org of await world.list("/v1/orgs", owner))
        if (org.slug === slug) found.push({ owner, org });
    }
    return found;
  };
  return {
    name: "the same slug",
    outcomes: 1,
    refusals: ["slug_taken"],
    call: (n) => world.call("POST", "/v1/orgs", person(people, n), { body }),
    told: ({ json }) => json.id,
    async state() {
      const found = await orgs();
      const records: Record<string, string[]> = { "audit org.create": [] };
      for (const { owner, org } of found) {
        records["audit org.create"]?.push(...(await targetsOf(world, owner, org, "org.create")));
        expect(await world.list("/v1/projects", owner, org)).toHaveLength(1);
        expect(await world.list(`/v1/orgs/${org.id}/members`, owner)).toMatchObject([{ role: "owner" }]);
      }
      return { changed: found.map(({ org }) => org.id), records };
    },
  };
}

/** People of one address, for all of whom the provider vouches, accept the same invitation. */
export async function sameInvitation(world: World, { ada }: People): Promise<Match> {
  const org = await world.org(ada);
  const email = `invited-to-${org.slug}@example.com`;
  const members = `/v1/orgs/${org.id}/members`;
  const invited = await world.done("POST", members, ada, { body: { email, role: "viewer" } });
  const guests = await Promise.all(
    Array.from({ length: 8 }, (_, n) => world.signIn(`guest-${org.slug}-${n}`, {}, undefined, email)),
  );
  const [first] = guests as [Person];
  const [{ id }] = await world.list("/auth/invitations", first);
  const joined = async () =>
    (await world.list(members, ada)).filter(
      (member) => member.role === "viewer" && member.user_id !== invited.user_id,
    );
  return {
    name: "the same invitation",
    outcomes: 1,
    refusals: ["not_found"],
    org: { org, reader: async () => ada },
    call: (n) => world.call("POST", `/auth/invitations/${id}/accept`, guests[n % guests.length]),
    told: ({ json }) => json.user_id,
    async state() {
      return {
        changed: (await joined()).map(({ user_id: guest }) => guest),
        records: await recordsOf(world, ada, org, {
          events: { "member.joined": "user_id" },
          acts: ["member.join"],
        }),
      };
    },
  };
}

export async function sameMember(world: World, { ada }: People): Promise<Match> {
  const org = await world.org(ada);
  const email = `added-to-${org.slug}@example.com`;
  return {
    name: "the same member",
    outcomes: 1,
    refusals: ["state"],
    org: { org, reader: async () => ada },
    call: (n) =>
      world.call("POST", `/v1/orgs/${org.id}/members`, ada, {
        body: { email: n % 2 === 0 ? email : email.toUpperCase() },
      }),
    told: ({ json }) => json.user_id,
    async state() {
      const members = await world.list(`/v1/orgs/${org.id}/members`, ada);
      return {
        changed: members.flatMap((row) => (row.role === "member" ? [row.user_id] : [])),
        records: await recordsOf(world, ada, org, {
          events: { "member.added": "user_id" },
          acts: ["member.add"],
        }),
        mails: world.mails(`Invitation to ${org.slug}`).length,
      };
    },
  };
}

export async function lastOwnersLeave(world: World, { ada, ben }: People): Promise<Match> {
  const org = await world.org(ada);
  const members = `/v1/orgs/${org.id}/members`;
  await world.done("POST", members, ada, { body: { email: ben.email } });
  const waiting = await world.list("/auth/invitations", ben);
  const mine = waiting.find(({ org_id: id }) => id === org.id);
  await world.done("POST", `/auth/invitations/${mine.id}/accept`, ben);
  await world.done("PATCH", `${members}/${ben.id}`, ada, { body: { role: "owner" } });
  const owners = [ada, ben];
  const reader = async () => {
    const { status } = await world.call("GET", members, ada);
    return status === 200 ? ada : ben;
  };
  return {
    name: "the last two owners leaving",
    outcomes: 1,
    refusals: ["last_owner", "not_found"],
    org: { org, reader },
    call: (n) => world.call("DELETE", `${members}/${owners[n % 2]?.id}`, owners[n % 2]),
    told: (_, n) => owners[n % 2]?.id,
    async state() {
      const by = await reader();
      const left = (await world.list(members, by)).map(({ user_id: id }) => id);
      return {
        changed: owners.map(({ id }) => id).filter((id) => !left.includes(id)),
        records: await recordsOf(world, by, org, {
          events: { "member.removed": "user_id" },
          acts: ["member.remove"],
        }),
      };
    },
  };
}

const RPM = 1000;

export async function ticketDecided(world: World, { ada }: People): Promise<Match> {
  const org = await world.org(ada);
  const operator = world.operatorSecret();
  const key = await world.done("POST", "/v1/keys", ada, {
    org,
    body: { project_id: org.projectId, name: `key-of-${org.slug}`, limits: { rpm: 50 } },
  });
  const { ticket } = await world.done("POST", "/v1/limits/requests", ada, {
    org,
    body: { key_id: key.id, rpm: 900 },
  });
  const decision = async () => await world.done("GET", `/v1/tickets/${ticket.id}`, ada, { org });
  return {
    name: "a ticket decided",
    outcomes: 1,
    refusals: ["state"],
    org: { org, reader: async () => ada },
    call: (n) =>
      world.call("POST", `/v1/operator/tickets/${ticket.id}/decide`, operator, {
        body: {
          status: n % 3 === 0 ? "rejected" : "approved",
          answer: `by ${n}`,
          ...(n % 3 !== 0 && { rpm: RPM + n }),
        },
      }),
    told: () => ticket.id,
    async state() {
      const { status, answer } = await decision();
      const { limits } = await world.done("GET", `/v1/keys/${key.id}`, ada, { org });
      const n = Number(/^by (\d+)$/.exec(answer ?? "")?.[1]);
      const isApproved = status === "approved";
      expect(limits.rpm).toBe(isApproved ? RPM + n : 50);
      const records = await recordsOf(world, ada, org, {
        events: { "ticket.decided": "id", "limits.changed": "key_id" },
        acts: ["ticket.decide", "key.raise_limit"],
      });
      for (const raised of ["event limits.changed", "audit key.raise_limit"]) {
        expect(records[raised]).toEqual(isApproved ? [key.id] : []);
        delete records[raised];
      }
      return {
        changed: status === "open" ? [] : [ticket.id],
        records,
        mails: world.mails(`key-of-${org.slug}`).length,
      };
    },
    async check(told) {
      const { status, answer } = await decision();
      for (const { answer: heard } of told) {
        expect([heard.json.status, heard.json.answer]).toEqual([status, answer]);
      }
    },
  };
}

export async function keyCap(world: World, { ada }: People): Promise<Match> {
  const org = await world.org(ada);
  return {
    name: "keys up to the cap",
    outcomes: KEY_CAP,
    refusals: ["plan_limit"],
    org: { org, reader: async () => ada },
    call: (n) =>
      world.call("POST", "/v1/keys", ada, { org, body: { project_id: org.projectId, name: `k${n}` } }),
    told: ({ json }) => json.id,
    async state() {
      return {
        changed: (await world.list("/v1/keys", ada, org)).map(({ id }) => id),
        records: await recordsOf(world, ada, org, {
          events: { "key.created": "id" },
          acts: ["key.create"],
        }),
      };
    },
    async check(told) {
      for (const { answer } of told) {
        expect((await world.call("GET", "/v1/models", answer.json.secret)).status).toBe(200);
      }
    },
  };
}
