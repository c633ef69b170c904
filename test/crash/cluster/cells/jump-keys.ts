/**
 * Keys of an installation whose clocks jump, and calls with them: what they may be answered, and what was charged. Each call that is
 * answered with 200 cost `COST`, but a repeated one, whose `Idempotency-Key` was charged once.
 */
import { strict as assert } from "node:assert";
import { systemClock } from "../../../../src/base/clock.ts";
import { Hopeless, until } from "../../../support/wait.ts";
import type { Held } from "./clients.ts";
import { type Answered, type CellsWorld, OUTPUT_PRICE } from "./world.ts";

const TOKENS = 100;
/** What a call costs, micro-USD. */
export const COST = TOKENS * OUTPUT_PRICE;
/** A call holds so much more, for what is rounded. */
const MARGIN = 4;
/** Calls that a budget has room for. */
export const ROOM = 3;
export const BUDGET = ROOM * (COST + MARGIN);
const WINDOW_MS = 60_000;
const HARD_DAY = { daily_micro: BUDGET, hard: true };
const HARD_MONTH = { monthly_micro: BUDGET, hard: true };

export class JumpKey {
  readonly what: string;
  readonly secret: string;
  readonly id: string;
  /** Whether it is of the org whose books are looked at. */
  isOfFirstOrg = true;
  /** All calls of it are one, under this `Idempotency-Key`. */
  readonly tag: string | undefined;
  readonly #world: CellsWorld;
  readonly #held: Held;
  /** When calls that were admitted were sent, and when they were answered. */
  readonly #admitted: (readonly [sentMs: number, answeredMs: number])[] = [];
  #answer: string | undefined;

  constructor(
    { world, held }: { readonly world: CellsWorld; readonly held: Held },
    made: { readonly what: string; readonly secret: string; readonly id: string; readonly tag?: string },
  ) {
    this.#world = world;
    this.#held = held;
    this.what = made.what;
    this.secret = made.secret;
    this.id = made.id;
    this.tag = made.tag;
  }

  /** Calls that were charged. */
  get calls(): number {
    return this.#admitted.length;
  }

  /** One call, at any cell. @returns its status @throws AssertionError where it is answered twice, and not the same */
  async call(): Promise<number> {
    const body = {
      model: "test/model",
      messages: [{ role: "user", content: "What is the time?" }],
      max_tokens: TOKENS,
      simulator: { tokens: TOKENS },
      ...(this.tag !== undefined && { svc: { metadata: { tags: { call: this.tag } } } }),
    };
    const headers = this.tag === undefined ? {} : { "idempotency-key": this.tag };
    const sentMs = systemClock.monotonic();
    const answer = await this.#world.ask("POST", "/v1/chat/completions", { body, key: this.secret, headers });
    if (answer.status === 200) this.#take(answer, sentMs);
    return answer.status;
  }

  /** Calls until the answer is another one than 503: a cell that may not ask Redis says so. */
  async known(): Promise<number> {
    return await until(
      `a call of ${this.what} is decided`,
      () => this.call(),
      (status) => status !== 503,
    );
  }

  /** Calls until there is no room. */
  async spend(): Promise<void> {
    await until(
      `${this.what} is spent`,
      () => this.call(),
      (status) => status === 402,
    );
  }

  /** The most calls that were certainly admitted within a minute. */
  mostInMinute(): number {
    const ordered = [...this.#admitted].sort(([, a], [, b]) => a - b);
    const counts = ordered.map(
      ([, endMs]) =>
        ordered.filter(([sentMs, answeredMs]) => answeredMs <= endMs && sentMs > endMs - WINDOW_MS).length,
    );
    return Math.max(0, ...counts);
  }

  #take({ text }: Answered, sentMs: number): void {
    if (this.tag !== undefined && this.#answer !== undefined) {
      assert.equal(text, this.#answer, `${this.what} was answered twice, not the same`);
      return;
    }
    this.#answer = text;
    this.#admitted.push([sentMs, systemClock.monotonic()]);
    const { svc } = JSON.parse(text);
    assert.equal(svc.cost.total_micro_usd, COST);
    if (this.isOfFirstOrg) this.#held.answers.set(svc.request_id, COST);
  }
}

/** Makes keys, whatever answers 503 meanwhile. */
export class JumpKeys {
  readonly #world: CellsWorld;
  readonly #held: Held;

  constructor(world: CellsWorld, held: Held) {
    this.#world = world;
    this.#held = held;
  }

  async make(what: string, more: object = {}, tag?: string): Promise<JumpKey> {
    const { id, secret } = await this.#act("POST", "/v1/keys", { name: what, ...more });
    return this.#of({ what, secret, id, ...(tag !== undefined && { tag }) });
  }

  /** A key of an org whose plan has limits. @param orgSecret of its key */
  async limited(what: string, limits: object, orgSecret: string): Promise<JumpKey> {
    const { id, secret } = await this.#act("POST", "/v1/keys", { name: what, limits }, orgSecret);
    const key = this.#of({ what, secret, id });
    key.isOfFirstOrg = false;
    return key;
  }

  daily = (what: string): Promise<JumpKey> => this.make(what, { budget: HARD_DAY });

  /** A key of a project with a hard monthly budget. */
  async monthly(): Promise<JumpKey> {
    const { id } = await this.#act("POST", "/v1/projects", { slug: "monthly", name: "Monthly" });
    await this.#act("PATCH", `/v1/projects/${id}`, { budget: HARD_MONTH });
    return await this.make("a project's monthly budget", { project_id: id });
  }

  /** The key of another org, with a hard monthly budget. @param secret of its key */
  async ofOrg(secret: string): Promise<JumpKey> {
    const { data } = await this.#world.read<{ data: { id: string }[] }>("/v1/orgs", secret);
    await this.#act("PATCH", `/v1/orgs/${data[0]?.id}`, { settings: { budget: HARD_MONTH } }, secret);
    const { keys } = await this.#world.read<{ keys: { key_id: string }[] }>("/v1/limits", secret);
    const key = this.#of({ what: "an org's monthly budget", secret, id: keys[0]?.key_id ?? "" });
    key.isOfFirstOrg = false;
    return key;
  }

  /** The first key of the installation, without limits. */
  plain = (): JumpKey => this.#of({ what: "a key without limits", secret: this.#world.key, id: "" });

  async revoked(): Promise<JumpKey> {
    const key = await this.make("a revoked key");
    await this.#act("DELETE", `/v1/keys/${key.id}`);
    return key;
  }

  /** Another key took its place, at once. */
  async replaced(): Promise<JumpKey> {
    const key = await this.make("a replaced key");
    await this.#act("POST", `/v1/keys/${key.id}/rotate`, { grace_seconds: 0 });
    return key;
  }

  #of(made: ConstructorParameters<typeof JumpKey>[1]): JumpKey {
    return new JumpKey({ world: this.#world, held: this.#held }, made);
  }

  async #act(method: string, path: string, body?: object, key = this.#world.key) {
    const { text } = await until(
      `${method} ${path} is done`,
      async () => {
        const answer = await this.#world.ask(method, path, { key, ...(body && { body }) });
        if (answer.status >= 300 && answer.status !== 503)
          throw new Hopeless(`${method} ${path}: ${answer.status} ${answer.text}`);
        return answer;
      },
      ({ status }) => status < 300,
    );
    return JSON.parse(text);
  }
}
