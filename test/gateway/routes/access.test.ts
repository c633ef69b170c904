/**
 * Who may call what: every route by every kind of caller, each either let in or refused with the exact error. What is right is
 * worked out here, from the access column and the words of the design, and not by asking the product. A route that is added
 * is walked without a change here.
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Route } from "../../../src/edge/routes.ts";
import { type Answer, type TestGateway, testGateway } from "../../support/gateway.ts";
import type { CallWorld } from "../../support/routes/call-world.ts";
import { bodyOf, isForKeys, nameOf, pathOf, sidesOf, table } from "../../support/routes/calls.ts";
import { type Caller, OPERATOR_EMAIL, type SeededWorld, seedWorld } from "./access.fixtures.ts";

let seeded: SeededWorld;
let gateway: TestGateway;
let world: CallWorld;
const csrfTokens = new Map<string, string>();

beforeAll(async () => {
  seeded = await seedWorld();
  const limits = { rpm: 3_000_000, tpm: 3_000_000_000, concurrency: 1000, keys: 10_000, projects: 10_000 };
  gateway = await testGateway({
    folder: seeded.folder,
    plans: [{ id: "local", limits, features: { sso: true } }],
    // Every org has webhooks here, not only the first one.
    settings: {
      max_orgs_per_person: 1000,
      operators: [OPERATOR_EMAIL],
      webhooks: { allow: ["127.0.0.0/8"] },
    },
    endpoints: [{ provider: "own", credentialEnv: "ACCESS_TEST_NEVER_SET" }],
  });
  const { owner, fullSecret, projectId, spare } = seeded;
  world = {
    orgId: owner.org.id,
    projectId,
    requestId: "x",
    asOwner: (method, path, body) => send(owner, method, path, body),
    asKey: (method, path, body) => gateway.call(method, path, { key: fullSecret, ...(body && { body }) }),
    newMember: async () => spare.pop() ?? "no spare member is left",
    mailId: async () => "x",
    invoiceId: "x",
    invitationId: async () => "x",
    spareSession: async () => "x",
  };
});
afterAll(async () => {
  await gateway.stop();
  rmSync(seeded.folder, { recursive: true, force: true });
});

async function csrfOf(token: string): Promise<string> {
  const known = csrfTokens.get(token);
  if (known !== undefined) return known;
  const headers = { cookie: `svc_session=${token}` };
  const { json } = await gateway.call("GET", "/auth/me", { key: null, headers });
  const csrf = json.csrf_token ?? "x".repeat(43);
  csrfTokens.set(token, csrf);
  return csrf;
}

async function send(caller: Caller, method: string, path: string, body?: object): Promise<Answer> {
  const { token, csrf } = caller;
  const secret = caller.isOperatorKey
    ? readFileSync(join(seeded.folder, "data/operator-key"), "utf8").trim()
    : caller.secret;
  const right = csrf === "right" && token !== undefined ? await csrfOf(token) : "x".repeat(43);
  return await gateway.call(method, path, {
    key: secret ?? null,
    headers: {
      "svc-org": caller.org[caller.by],
      ...(token !== undefined && { cookie: `other=1; svc_session=${token}` }),
      ...(csrf !== undefined && csrf !== "none" && { "x-svc-csrf": right }),
    },
    ...(body && { body }),
  });
}

/** Design, "Who acts": owner > admin > billing | member > viewer; billing has money and nothing else. */
const LEVELS: Readonly<Record<string, string>> = {
  owner: "owner",
  admin: "owner admin",
  member: "owner admin member",
  billing: "owner admin billing",
  viewer: "owner admin member viewer",
  everyone: "owner admin member billing viewer",
};

/** Status and code of the refusal; undefined: let in. */
function refusal(route: Route, caller: Caller): string | undefined {
  if (route.access === "public") return undefined;
  const [key = "", level] = sidesOf(route);
  const { secret, isOperatorKey } = caller;
  // A key that is sent must be good; a cookie that opens nothing is as none.
  if (route.access === "anyone")
    return secret !== undefined || isOperatorKey ? keyRefusal(route, "key", caller) : undefined;
  // Who sends a secret acts by it, whatever cookie the browser adds.
  if (secret !== undefined || isOperatorKey) {
    if (key === "operator") return isOperatorKey ? undefined : "403 role";
    if (key === "directory") return "401 in SCIM's shape";
    return isForKeys(route) ? keyRefusal(route, key, caller) : "403 role";
  }
  if (key === "directory") return "401 in SCIM's shape";
  if (caller.token === undefined) return "401 missing_key";
  if (key !== "operator" && level === undefined) return "401 missing_key";
  return personRefusal(route, key === "operator" ? key : (level ?? ""), caller);
}

function keyRefusal(route: Route, scope: string, { key, orgStatus }: Caller): string | undefined {
  if (key === undefined || key.state === "unknown") return "401 invalid_key";
  if (key.state !== "good") return `401 ${key.state}_key`;
  if (key.isOwn && orgStatus !== "active") return `403 org_${orgStatus}`;
  if (scope !== "key" && !key.scopes.some((held) => held === scope)) return "403 scope";
  // A model call names no org: it is the key's.
  return key.isOwn || "exchange" in route ? undefined : "404 not_found";
}

function personRefusal(route: Route, level: string, caller: Caller): string | undefined {
  const { person, csrf, orgStatus, barred } = caller;
  const changes = route.method !== "GET";
  if (person?.state !== "live") return "401 session_expired";
  if (changes && csrf !== "right") return "403 csrf";
  if (level === "operator") return person.isOperator ? undefined : "403 role";
  // The route is about the person, not about an org.
  if (level === "signed in") return undefined;
  if (person.role === undefined) return "404 not_found";
  if (barred === "hours") return "401 session_expired";
  if (barred === "address") return "403 ip_not_allowed";
  if (barred === "factor") return "403 two_factor_required";
  if (!(LEVELS[level] ?? "").split(" ").includes(person.role)) return "403 role";
  if (orgStatus === "suspended" && changes) return "403 org_suspended";
  return orgStatus === "closed" && changes && !route.isForClosed ? "403 org_closed" : undefined;
}

/** What the answer is as far as access goes; of an operation's own failures only that it came to them. */
function outcome({ status, json, text }: Answer): string | undefined {
  if (status < 400) return undefined;
  // RFC 7644, section 3.12.
  if (text.startsWith('{"schemas":')) return `${status} in SCIM's shape`;
  const error = json?.error;
  const isOrg = error?.code === "not_found" && /organisation/.test(error.message) && error.param === null;
  const isOwn = [400, 404, 409].includes(status) && !isOrg;
  // A gateway alone has no analytics engine here; cells have one, which does not write exports for all callers at once.
  if (isOwn || ["analytics_unavailable", "concurrency"].includes(error?.code)) return undefined;
  return error === undefined ? text : `${status} ${error.code}`;
}

const isPublic = ({ access }: Route): boolean => access === "public";

/** The world only where the call is let in: nothing needs to be made for one that is refused. */
async function walk(route: Route, caller: Caller): Promise<string | undefined> {
  const isIn = refusal(route, caller) === undefined && caller.org.id === world.orgId;
  const path = await pathOf(route, caller.org[caller.by], isIn ? world : undefined, true);
  return outcome(await send(caller, route.method, path, await bodyOf(route, isIn ? world : undefined, true)));
}

describe("every caller is let in or refused as the table says", () => {
  test.each(table.map((route) => [`${nameOf(route)} (${route.access})`, route] as const))(
    "%s",
    async (_, route) => {
      // A route that asks nobody who they are may end the session that a browser sends, as sign-out does.
      const callers = seeded.callers.filter(({ token }) => !isPublic(route) || token === undefined);
      const told = async (caller: Caller) => `${caller.name}: ${(await walk(route, caller)) ?? "let in"}`;
      expect(await Promise.all(callers.map(told))).toEqual(
        callers.map((caller) => `${caller.name}: ${refusal(route, caller) ?? "let in"}`),
      );
    },
  );
});

describe("S13: a key is changed, ended and replaced by whoever holds its scopes", () => {
  const acts = table.filter(({ method, path }) => method !== "GET" && path.startsWith("/v1/keys/{id}"));
  const named = (name: string) => seeded.callers.find((caller) => caller.name === name) as Caller;

  test.each(acts.map((route) => [nameOf(route), route] as const))("%s", async (_, { method, path }) => {
    const { json } = await world.asOwner("POST", "/v1/keys", {
      name: "strong",
      scopes: ["write:keys", "write:org"],
      project_id: world.projectId,
    });
    const by = async (caller: Caller) => {
      const body = method === "DELETE" ? undefined : {};
      const answer = await send(caller, method, path.replace("{id}", json.id), body);
      return `${answer.status} ${answer.json?.error?.code ?? "done"}`;
    };
    expect(await by(named("a person as member"))).toBe("403 role");
    expect(await by(named("a key with write:keys alone"))).toBe("403 scope");
    expect((await world.asOwner("GET", `/v1/keys/${json.id}`)).json).toMatchObject({
      status: "active",
      name: "strong",
      scopes: json.scopes,
    });
    expect(await by(named("a person as admin"))).toMatch(/^20[01] done$/);
  });

  test("there are such routes", () => expect(acts).toHaveLength(3));
});

/** Design, "Closing": a closed org may read, export, refund, transfer, ask or cancel erasure; each may leave, too. */
const LAST_ACTS = [
  "POST /v1/orgs/{org}/close",
  "POST /v1/orgs/{org}/erasure",
  "DELETE /v1/orgs/{org}/erasure",
  "POST /v1/orgs/{org}/transfer",
  "DELETE /v1/orgs/{org}/members/{user}",
  "POST /v1/tickets",
];

test("people of a closed org may still end it, hand it on, and leave", () => {
  const open = table.filter(({ isForClosed }) => isForClosed).map(nameOf);
  expect(open).toEqual(expect.arrayContaining(LAST_ACTS));
  // What makes new things or spends is not among them.
  expect(open.filter((name) => /PATCH|PUT|keys|projects|policies|invit/.test(name))).toEqual([]);
});

describe("an org that a request names", () => {
  const NAMES = [
    "nowhere",
    "x".repeat(5000),
    "__proto__",
    "~",
    "../main",
    "main/",
    "MAIN",
    "main,other",
    "%00",
  ];

  test.each(NAMES)("and that there is not is not found, for a key and for a person: %j", async (org) => {
    const { owner, fullSecret } = seeded;
    const cookie = `svc_session=${owner.token}`;
    for (const [key, headers] of [
      [fullSecret, { "svc-org": org }],
      [null, { "svc-org": org, cookie }],
    ] as const) {
      for (const path of ["/v1/keys", `/v1/orgs/${encodeURIComponent(org)}`]) {
        const { status, json } = await gateway.call("GET", path, { key, headers });
        expect([path, status, json.error.code]).toEqual([path, 404, "not_found"]);
      }
    }
  });

  test("in its path counts, whatever the header says", async () => {
    const { owner } = seeded;
    const headers = { cookie: `svc_session=${owner.token}`, "svc-org": "other" };
    const { status, json } = await gateway.call("GET", "/v1/orgs/main", { key: null, headers });
    expect([status, json.slug]).toEqual([200, "main"]);
  });

  test("shows what is its own, and nothing of another, by the id of the other's things", async () => {
    const { owner } = seeded;
    const other = seeded.callers.find(({ name }) => name === "a key of another org") as Caller;
    const made = await send({ ...other, org: { id: "other", slug: "other" } }, "POST", "/v1/keys", {
      name: "theirs",
      scopes: ["write:keys"],
    });
    expect(made.status).toBe(201);
    for (const [method, path, body] of [
      ["GET", `/v1/keys/${made.json.id}`],
      ["PATCH", `/v1/keys/${made.json.id}`, { name: "mine" }],
      ["DELETE", `/v1/keys/${made.json.id}`],
      ["POST", `/v1/keys/${made.json.id}/rotate`, {}],
      ["GET", `/v1/projects/${made.json.project_id}`],
      ["DELETE", `/v1/projects/${made.json.project_id}`],
    ] as const) {
      expect([method, path, (await send(owner, method, path, body)).status]).toEqual([method, path, 404]);
    }
    const asked = await send(owner, "POST", "/v1/limits/requests", { key_id: made.json.id, rpm: 3_000_001 });
    expect([asked.status, asked.json.error.param]).toEqual([400, "/key_id"]);
  });
});
