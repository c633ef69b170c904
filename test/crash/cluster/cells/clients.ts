/**
 * Clients of several cells, whose connections are cut again and again: calls, repeated calls under an `Idempotency-Key`, acts and
 * reads. They note what they hold in full.
 */
import { strict as assert } from "node:assert";
import { Agent } from "undici";
import type { Random } from "../../../../src/base/clock.ts";
import { sseData } from "../../../support/gateway.ts";
import { rest } from "../../../support/pace.ts";
import { Hopeless, until } from "../../../support/wait.ts";
import { AGENT, type Answered, type CellsWorld } from "./world.ts";

/** Calls under a key that died are answered once their cell is back; acts once Redis is. */
const AGAIN_MS = 25;

/** What else is a good answer while cells and Redis die: a refusal that says so. */
const MAY_BE = new Set([409, 503]);

interface Svc {
  readonly request_id: string;
  readonly cost: { readonly total_micro_usd: number };
}

/** An API key that clients made, and what its limit may be: more than one value where an act was not answered. */
interface MadeKey {
  readonly id: string;
  readonly secret: string;
  limits: number[];
  /** `asked`: by an act that was not answered. */
  revoked: "no" | "asked" | "yes";
}

/** What all clients hold. */
export class Held {
  /** Request id → cost, of answers that are not compared with the ledger yet. */
  readonly answers = new Map<string, number>();
  /** Tag of a call under an `Idempotency-Key` → id of its answer. */
  readonly keyed = new Map<string, string>();
  readonly keys = new Map<string, MadeKey>();
  /** Reference → amount of grants that were answered. */
  readonly grants = new Map<string, number>();
  readonly counts = new Map<string, number>();
  /** Answers that must not be. */
  readonly faults: string[] = [];
  names = 0;

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  get calls(): number {
    return this.counts.get("call 200") ?? 0;
  }
}

export class Client {
  readonly #world: CellsWorld;
  readonly #held: Held;
  readonly #random: Random;
  readonly #run: string;
  /** Keys for calls: one has a hard budget. */
  readonly #callKeys: readonly string[];
  #agent = new Agent(AGENT);
  /** A key of this client alone, so that its limit is known. */
  #made: MadeKey | undefined;

  constructor(world: CellsWorld, held: Held, random: Random, callKeys: readonly string[]) {
    this.#world = world;
    this.#held = held;
    this.#random = random;
    this.#callKeys = callKeys;
    this.#run = Math.floor(random() * 1e9).toString(36);
  }

  /** One call, act or read after the other, until told to rest; what must be repeated is repeated first. */
  async work(rests: () => boolean): Promise<void> {
    while (!rests()) {
      // Another cell, most likely.
      if (this.#random() < 0.2) await this.#renew();
      try {
        await this.#one();
      } catch (error) {
        if (error instanceof assert.AssertionError) this.#held.faults.push(error.message);
        else this.#held.count("cut");
        // Where no cell is up, each connection is refused at once.
        await rest(AGAIN_MS);
      }
    }
    await this.#renew();
  }

  async #renew(): Promise<void> {
    const old = this.#agent;
    this.#agent = new Agent(AGENT);
    await old.destroy();
  }

  async #one(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.6) await this.#call();
    else if (kind < 0.8) await this.#keyed();
    else if (kind < 0.9) await this.#act();
    else await this.#look();
  }

  #name(what: string): string {
    return `${what}-${this.#run}-${this.#held.names++}`;
  }

  #body(tag: string): { stream: boolean } & Record<string, unknown> {
    const random = this.#random;
    const tokens = 1 + Math.floor(random() * 40);
    const simulator = random() < 0.3 ? { tokens, gap_ms: 2 } : { tokens };
    return {
      model: "test/model",
      messages: [{ role: "user", content: "Hold on." }],
      max_tokens: 40,
      stream: random() < 0.5,
      simulator,
      svc: { metadata: { tags: { call: tag } } },
    };
  }

  async #call(): Promise<void> {
    const body = this.#body(this.#name("plain"));
    const key = this.#callKeys[Math.floor(this.#random() * this.#callKeys.length)] as string;
    const answer = await this.#ask("call", "POST", "/v1/chat/completions", { body, key });
    if (answer.status === 200) this.#hold(answer, body.stream);
  }

  /** Repeated until it is answered, then perhaps once more: always the same answer, which is charged once. */
  async #keyed(): Promise<void> {
    const tag = this.#name("keyed");
    const body = this.#body(tag);
    const ask = () =>
      this.#ask("keyed", "POST", "/v1/chat/completions", { body, headers: { "idempotency-key": tag } });
    const first = await this.#answered(tag, ask);
    const id = this.#hold(first, body.stream);
    if (id === undefined) return;
    this.#held.keyed.set(tag, id);
    if (this.#random() < 0.5) return;
    await this.#renew();
    const again = await this.#answered(tag, ask);
    assert.equal(again.text, first.text, `${tag} was answered twice, not the same`);
  }

  async #answered(what: string, ask: () => Promise<Answered>, good = 200): Promise<Answered> {
    return await until(
      `${what} is answered`,
      async () => {
        const answer = await ask().catch((error: Error) => {
          this.#held.count("cut");
          throw error;
        });
        if (answer.status !== good && answer.text.includes('"state"'))
          throw new Hopeless(`${what}: ${answer.text}`);
        return answer;
      },
      ({ status, text }) => status === good && !isCut(text),
    );
  }

  /** @returns the id of an answer that came in full */
  #hold({ text }: Answered, isStream: boolean): string | undefined {
    const parts = (isStream ? sseData(text) : [JSON.parse(text), "[DONE]"]) as ({ svc?: Svc } | "[DONE]")[];
    if (parts.at(-1) !== "[DONE]") return undefined;
    const { svc } = parts.at(-2) as { svc: Svc };
    this.#held.answers.set(svc.request_id, svc.cost.total_micro_usd);
    return svc.request_id;
  }

  async #act(): Promise<void> {
    const made = this.#made;
    const kind = this.#random();
    if (kind < 0.4) await this.#grant();
    else if (made === undefined) await this.#makeKey();
    else if (kind < 0.85) await this.#limitKey(made);
    else await this.#revokeKey(made);
  }

  async #makeKey(): Promise<void> {
    const body = { name: this.#name("key"), scopes: ["read:keys"], limits: { rpm: 1000 } };
    const answer = await this.#ask("make", "POST", "/v1/keys", { body });
    if (answer.status !== 201) return;
    const { id, secret } = JSON.parse(answer.text);
    this.#made = { id, secret, limits: [1000], revoked: "no" };
    this.#held.keys.set(id, this.#made);
  }

  async #limitKey(made: MadeKey): Promise<void> {
    const rpm = 1000 + Math.floor(this.#random() * 100_000);
    made.limits.push(rpm);
    const body = { limits: { rpm } };
    const answer = await this.#ask("limit", "PATCH", `/v1/keys/${made.id}`, { body });
    if (answer.status === 200) made.limits = [rpm];
  }

  async #revokeKey(made: MadeKey): Promise<void> {
    this.#made = undefined;
    made.revoked = "asked";
    const answer = await this.#ask("revoke", "DELETE", `/v1/keys/${made.id}`);
    if (answer.status === 200) made.revoked = "yes";
  }

  /** Repeated until it is answered. */
  async #grant(): Promise<void> {
    const reference = this.#name("grant");
    const amount = 1 + Math.floor(this.#random() * 5000);
    const body = { amount_micro_usd: amount, reason: "A test", idempotency_key: reference };
    const { orgId, operatorKey: key } = this.#world;
    const path = `/v1/operator/orgs/${orgId}/grant`;
    await this.#answered(reference, () => this.#ask("grant", "POST", path, { body, key }), 201);
    this.#held.grants.set(reference, amount);
  }

  async #look(): Promise<void> {
    const kind = this.#random();
    if (kind < 0.3) {
      await this.#ask("read", "GET", "/v1/usage");
      return;
    }
    if (kind < 0.6) {
      await this.#ask("read", "GET", "/v1/requests?limit=20");
      return;
    }
    const { status, text } = await this.#ask("read", "GET", "/v1/credits/ledger?limit=50");
    if (status !== 200) return;
    const page = JSON.parse(text) as { data: { seq: number }[]; incomplete_since?: string };
    // A cell that was killed has some of them.
    if (page.incomplete_since !== undefined) return;
    const seqs = page.data.map(({ seq }) => seq);
    const [newest = 0] = seqs;
    assert.deepEqual(
      seqs,
      seqs.map((_, at) => newest - at),
      "a page of the ledger has gaps",
    );
  }

  async #ask(what: string, method: string, path: string, asked = {}): Promise<Answered> {
    const answer = await this.#world.ask(method, path, asked, this.#agent);
    const { status, text } = answer;
    this.#held.count(`${what} ${status}`);
    if (status > 299 && !MAY_BE.has(status))
      assert.fail(`${method} ${path}: ${status} ${text.slice(0, 300)}`);
    return answer;
  }
}

/** A stream that ends with an error, or before its end. */
const isCut = (text: string): boolean => text.startsWith("data: ") && !text.endsWith("data: [DONE]\n\n");
