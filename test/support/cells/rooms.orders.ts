/** Acts at random of keys, projects, policies, members, webhooks and credit, of few things, so that they meet. */
import type { Random } from "../../../src/base/clock.ts";
import type { AuditRow } from "../../../src/store/events/audit.ts";

/** Few of each, so that acts meet the limits. */
export const PLAN = {
  id: "local",
  limits: { rpm: 0, tpm: 0, concurrency: 0, keys: 12, projects: 6, auto_approve: 2 },
};
export const POLICIES = ["house", "garden", "cellar"];

export interface Order {
  /** As the audit names it. */
  readonly act: string;
  readonly method: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly isOperator?: boolean;
}

type What = "keys" | "projects" | "members" | "hooks";

/** Acts that make something, and what. */
const MAKES: Readonly<Record<string, What>> = {
  "key.create": "keys",
  "key.rotate": "keys",
  "project.create": "projects",
  "member.add": "members",
  "webhook.create": "hooks",
};
/** Orders choose among so many of the newest, so that acts meet. */
const NEWEST = 8;

export class Orders {
  readonly #random: Random;
  readonly #orgId: string;
  /** Ids; also of what is gone. */
  readonly #made: Readonly<Record<What, string[]>> = { keys: [], projects: [], members: [], hooks: [] };
  #count = 0;

  constructor(random: Random, orgId: string) {
    this.#random = random;
    this.#orgId = orgId;
  }

  /** What there must be before all else. */
  first = (): Order[] =>
    POLICIES.map((name) => ({
      act: "policy.create",
      method: "POST",
      path: "/v1/policies",
      body: { name, yaml: "version: 1\nsort: price\n" },
    }));

  next(): Order {
    const kinds = [this.#key, this.#key, this.#project, this.#policy, this.#member, this.#hook, this.#grant];
    return (kinds[this.#pick(kinds.length)] ?? this.#key).call(this);
  }

  /** Later orders are of this too. @param json what a request that was answered with 201 was told */
  remember(act: string, json: Readonly<Record<string, unknown>>): void {
    this.#remember(act, json.user_id ?? json.id);
  }

  /** The same of acts whose answers were lost. */
  learn(rows: readonly AuditRow[]): void {
    for (const { act, target, changes } of rows)
      this.#remember(act, act === "key.rotate" ? changes.find(({ field }) => field === "id")?.after : target);
  }

  #remember(act: string, id: unknown): void {
    const what = MAKES[act];
    if (what === undefined || typeof id !== "string" || this.#made[what].includes(id)) return;
    this.#made[what].push(id);
  }

  #pick = (n: number) => Math.floor(this.#random() * n);

  #one<T>(list: readonly T[], none: T): T {
    return list.slice(-NEWEST)[this.#pick(Math.min(list.length, NEWEST))] ?? none;
  }

  #ofProject(): { readonly project_id?: string } {
    const { projects } = this.#made;
    return projects.length > 0 && this.#pick(2) === 0 ? { project_id: this.#one(projects, "") } : {};
  }

  #key(): Order {
    const { keys } = this.#made;
    const [name, path] = [`n${++this.#count}`, `/v1/keys/${this.#one(keys, "key_none")}`];
    const kind = this.#pick(6);
    if (kind <= 1 || keys.length === 0) {
      const body = { name, ...this.#ofProject() };
      return { act: "key.create", method: "POST", path: "/v1/keys", body };
    }
    if (kind === 2)
      return { act: "key.update", method: "PATCH", path, body: { limits: { rpm: this.#count } } };
    if (kind === 3) {
      const budget = { daily_micro: this.#count, hard: this.#pick(2) === 0 };
      return { act: "key.update", method: "PATCH", path, body: { name, budget } };
    }
    if (kind === 4) return { act: "key.revoke", method: "DELETE", path };
    return { act: "key.rotate", method: "POST", path: `${path}/rotate`, body: { grace_seconds: 0 } };
  }

  #project(): Order {
    const { projects } = this.#made;
    const [name, path] = [`n${++this.#count}`, `/v1/projects/${this.#one(projects, "prj_none")}`];
    const kind = this.#pick(4);
    if (kind <= 1 || projects.length === 0) {
      const body = { slug: `slug-${this.#pick(8)}`, name };
      return { act: "project.create", method: "POST", path: "/v1/projects", body };
    }
    if (kind === 2) {
      const body = { name, budget: { monthly_micro: this.#count, hard: true } };
      return { act: "project.update", method: "PATCH", path, body };
    }
    return { act: "project.delete", method: "DELETE", path };
  }

  #policy(): Order {
    const name = this.#one(POLICIES, "");
    const yaml = `version: 1\nsort: price\n# ${++this.#count}\n`;
    const project = this.#ofProject();
    const scope = project.project_id === undefined ? {} : { scope: project };
    const kind = this.#pick(5);
    if (kind === 0)
      return { act: "policy.create", method: "POST", path: "/v1/policies", body: { name, yaml } };
    const path = `/v1/policies/${name}`;
    if (kind === 1)
      return { act: "policy.add_version", method: "POST", path: `${path}/versions`, body: { yaml } };
    if (kind === 2)
      return { act: "policy.deactivate", method: "POST", path: `${path}/deactivate`, body: scope };
    const body = { version: 1 + this.#pick(5), ...scope };
    return { act: "policy.activate", method: "POST", path: `${path}/activate`, body };
  }

  #member(): Order {
    const { members } = this.#made;
    const all = `/v1/orgs/${this.#orgId}/members`;
    const path = `${all}/${this.#one(members, "usr_none")}`;
    const kind = this.#pick(3);
    if (kind === 0 || members.length === 0) {
      const body = {
        email: `friend${this.#pick(12)}@example.com`,
        role: this.#one(["viewer", "member"], ""),
      };
      return { act: "member.add", method: "POST", path: all, body };
    }
    const role = this.#one(["viewer", "member", "billing"], "");
    if (kind === 1) return { act: "member.update", method: "PATCH", path, body: { role } };
    return { act: "member.remove", method: "DELETE", path };
  }

  #hook(): Order {
    const { hooks } = this.#made;
    const path = `/v1/webhooks/${this.#one(hooks, "whk_none")}`;
    const description = `d${++this.#count}`;
    const kind = this.#pick(3);
    if (kind === 0 || hooks.length === 0) {
      // It wants events that nobody makes: nothing is sent.
      const body = { url: "http://127.0.0.1:9/hook", events: ["invoice.issued"], description };
      return { act: "webhook.create", method: "POST", path: "/v1/webhooks", body };
    }
    if (kind === 1) return { act: "webhook.update", method: "PATCH", path, body: { description } };
    return { act: "webhook.delete", method: "DELETE", path };
  }

  #grant(): Order {
    // Some are asked for several times, at several cells at once.
    const number = this.#pick(40);
    const body = { amount_micro_usd: 1000 + number, reason: "a test", idempotency_key: `g${number}` };
    const path = `/v1/operator/orgs/${this.#orgId}/grant`;
    return { act: "credits.grant", method: "POST", path, body, isOperator: true };
  }
}
