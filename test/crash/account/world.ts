/**
 * One data folder through many lives of a gateway, a process of its own each time, with what stands around it: an identity provider
 * that vouches for anybody, a receiver of webhooks, the mails in the folder. A life is killed at a chosen moment.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulator, startSimulator } from "../../../simulator/simulator.ts";
import { type Answer, removeFolder } from "../../support/gateway.ts";
import { httpCall } from "../../support/http-client.ts";
import {
  begin,
  cookiesOf,
  finish,
  startTestProvider,
  type TestProvider,
} from "../../support/identity/oidc.fixtures.ts";
import { type SpawnedGateway, spawnGateway } from "../../support/spawned-gateway.ts";
import { killAtAppend } from "../../support/store/kill-at-append.ts";
import { type Receiver, startReceiver } from "../../support/webhooks/receiver.ts";

/** When a life ends: at an append to the journal, or when so many of the callers have been answered. */
export type Moment =
  | { readonly at: "append"; readonly count: number; readonly how: "before" | "torn" | "behind" }
  | { readonly at: "answer"; readonly count: number };

export interface Person {
  readonly id: string;
  readonly email: string;
  /** The session as headers: cookie and CSRF token. */
  readonly cookie: string;
  readonly csrf: string;
  readonly sessionId: string;
}

export interface Org {
  readonly id: string;
  readonly slug: string;
  readonly projectId: string;
  /** A webhook for all events. */
  readonly webhookId: string;
}

/** What a call carries. */
export interface Given {
  readonly org?: Org;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

/** Who calls: a session, or the secret of a key or of operators. */
export type Credential = Person | string | undefined;

/** Keys of an org. */
export const KEY_CAP = 5;
/** Beside the identity provider's. */
export interface Around {
  readonly env?: Readonly<Record<string, string>>;
}

/** Orgs of all people have webhooks at a receiver on this machine. */
const SETTINGS = { max_orgs_per_person: 1_000_000, webhooks: { allow: ["127.0.0.0/8"] } };
const LIMITS = { rpm: 100, tpm: 0, concurrency: 0, keys: KEY_CAP, projects: 10, auto_approve: 1 };
const PLANS = [{ id: "local", name: "Local", limits: LIMITS }];

export class World {
  readonly folder = mkdtempSync(join(tmpdir(), "weir-crash-"));
  readonly receiver: Receiver;
  readonly provider: TestProvider;
  readonly #simulator: Simulator;
  readonly #env: Readonly<Record<string, string>>;
  #gateway: SpawnedGateway | undefined;
  #lives = 0;
  #orgs = 0;

  private constructor(
    simulator: Simulator,
    provider: TestProvider,
    receiver: Receiver,
    { env = {} }: Around,
  ) {
    this.#env = env;
    this.#simulator = simulator;
    this.provider = provider;
    this.receiver = receiver;
  }

  static async open(around: Around = {}): Promise<World> {
    return new World(await startSimulator({}), await startTestProvider(), await startReceiver(), around);
  }

  async close(): Promise<void> {
    await this.#gateway?.kill("SIGKILL");
    await Promise.all([this.#simulator.close(), this.provider.stop(), this.receiver.close()]);
    removeFolder(this.folder);
  }

  // -- Lives --

  /** @param moment at which it will be killed once `arm` was called */
  async start(moment?: Moment): Promise<void> {
    const isAtAppend = moment?.at === "append";
    this.#gateway = await spawnGateway({
      folder: this.folder,
      simulator: this.#simulator,
      engine: false,
      settings: SETTINGS,
      plans: PLANS,
      env: {
        ...this.provider.env,
        ...this.#env,
        ...(isAtAppend && killAtAppend(`${moment.count} ${moment.how}`)),
      },
    });
    this.#lives++;
  }

  /** URL of the life that runs; each has its own port. */
  get url(): string {
    return this.#running.url;
  }

  /** Resolves once the life that runs is over. */
  get ended(): Promise<unknown> {
    const { process } = this.#running;
    if (process.exitCode !== null || process.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => process.once("exit", resolve));
  }

  /** What the life that runs has written to its log. */
  get output(): string {
    return this.#running.output();
  }

  get #running(): SpawnedGateway {
    if (this.#gateway === undefined) throw new Error("no gateway runs");
    return this.#gateway;
  }

  signal(signal: NodeJS.Signals): void {
    this.#running.process.kill(signal);
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
    const ended = await this.#running.kill(signal);
    this.#gateway = undefined;
    return ended;
  }

  // -- Calls --

  async call(method: string, path: string, by?: Credential, given: Given = {}) {
    const credential: Record<string, string> =
      by === undefined
        ? {}
        : typeof by === "string"
          ? { authorization: `Bearer ${by}` }
          : { cookie: by.cookie, "x-svc-csrf": by.csrf };
    const { org, body, idempotencyKey } = given;
    const answer = await httpCall(method, `${this.url}${path}`, {
      headers: {
        ...credential,
        ...(org && { "svc-org": org.id }),
        ...(idempotencyKey && { "idempotency-key": idempotencyKey }),
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (answer === undefined) throw new Error(`${method} ${path} was not answered`);
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    return { ...answer, json: isJson ? JSON.parse(answer.text) : undefined } as Answer;
  }

  /** A form without a credential, as identity providers send theirs. */
  async form(path: string, fields: Readonly<Record<string, string>>): Promise<Answer> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const body = new URLSearchParams(fields).toString();
    const answer = await httpCall("POST", `${this.url}${path}`, { headers, body });
    if (answer === undefined) throw new Error(`POST ${path} was not answered`);
    return { ...answer, json: undefined };
  }

  /** A call that must succeed. */
  async done(...[method, path, by, given]: Parameters<World["call"]>): Promise<Answer["json"]> {
    const { status, json, text } = await this.call(method, path, by, given);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return json;
  }

  /** Every item of a list, whatever its pages. */
  async list(path: string, by: Credential, org?: Org): Promise<Answer["json"][]> {
    const items: Answer["json"][] = [];
    for (let cursor = ""; ; ) {
      const page = `${path}?limit=200${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
      const { data, next_cursor: next } = await this.done("GET", page, by, org ? { org } : {});
      items.push(...data);
      if (!next) return items;
      cursor = next;
    }
  }

  operatorSecret(): string {
    return readFileSync(join(this.folder, "data/operator-key"), "utf8").trim();
  }

  // -- People and orgs --

  /** The way back from the provider, not yet gone. @param sid of the provider's own session */
  async beginSignIn(
    name: string,
    query: Readonly<Record<string, string>> = {},
    sid?: string,
    email?: string,
  ) {
    const begun = await begin(this.url, query);
    const code = new URLSearchParams(begun.callback.split("?")[1]).get("code") ?? "";
    this.provider.claimsOfCode.set(code, {
      sub: name,
      email: email ?? `${name}@example.com`,
      email_verified: true,
      ...(sid !== undefined && { sid }),
    });
    return begun;
  }

  async signIn(
    name: string,
    query: Readonly<Record<string, string>> = {},
    sid?: string,
    email?: string,
  ): Promise<Person> {
    const answer = await finish(this.url, await this.beginSignIn(name, query, sid, email));
    if (answer.status !== 303) throw new Error(`${name} could not sign in: ${answer.status} ${answer.text}`);
    return await this.me(cookiesOf(answer));
  }

  async me(cookie: string): Promise<Person> {
    const {
      user,
      csrf_token: csrf,
      session,
    } = await this.done("GET", "/auth/me", {
      id: "",
      email: "",
      csrf: "",
      sessionId: "",
      cookie,
    });
    return { id: user.id, email: user.email, cookie, csrf, sessionId: session.id };
  }

  slug(): string {
    return `org-${this.#lives}-${++this.#orgs}-x`;
  }

  /** An org with a webhook for everything that happens in it. */
  async org(owner: Person, slug = this.slug(), country = "US"): Promise<Org> {
    const body = { slug, name: slug, billing_country: country };
    const { id } = await this.done("POST", "/v1/orgs", owner, { body });
    const org = { id, slug, projectId: "", webhookId: "" };
    const [project] = await this.list("/v1/projects", owner, org);
    const url = `http://127.0.0.1:${this.receiver.port}/${slug}`;
    const webhook = await this.done("POST", "/v1/webhooks", owner, { org, body: { url } });
    return { ...org, projectId: project.id, webhookId: webhook.id };
  }

  // -- What goes out --

  /** Texts of the mails that hold this text, as they are on the disk. */
  mails(text: string): string[] {
    const mails = join(this.folder, "data/mail");
    if (!existsSync(mails)) return [];
    return readdirSync(mails)
      .filter((name) => name.endsWith(".eml"))
      .map((name) => readFileSync(join(mails, name), "utf8").replaceAll("=\r\n", ""))
      .filter((mail) => mail.includes(text));
  }

  /** Ids of events that the org's webhook has been sent. */
  received({ slug }: Org): Set<string> {
    const mine = this.receiver.received.filter(({ path }) => path === `/${slug}`);
    return new Set(mine.map(({ headers }) => headers["webhook-id"] ?? ""));
  }
}
