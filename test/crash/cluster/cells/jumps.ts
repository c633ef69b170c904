/** Clocks of an installation that are set and put right, Redis's, a cell's or all, and what must hold meanwhile and afterwards. */

import { strict as assert } from "node:assert";
import { HOUR_MS } from "../../../../src/base/time.ts";
import type { SetClocks } from "../../../support/set-clock.fixtures.ts";
import { lives } from "../../../support/supervisor/fixtures.ts";
import { equals, until } from "../../../support/wait.ts";
import type { Held } from "./clients.ts";
import { BUDGET, COST, type JumpKey, JumpKeys, ROOM } from "./jump-keys.ts";
import type { CellsWorld } from "./world.ts";

export interface Jump {
  readonly whose: "Redis" | "one cell" | "all";
  readonly ms: number;
}

const RPM = 10;
/** Room for some calls of a hundred tokens and what is asked. */
const TPM = 450;
const MOST_OF_TPM = 4;
/** Calls with each key at once: more than there are cells. */
const AT_ONCE = 4;
const LEASING_ROUNDS = 3;
/** Clocks that were put right are within so much of their course (`src/cluster/cells/scripts/clock.lua`). */
const RETURN_MS = 5000;
const DOUBTED = "Redis's clock is not what this cell expects";
const AGREED = "the clocks agree again";
/** Statuses of calls that cannot be decided now. */
const UNDECIDED = 503;

interface Fresh {
  readonly budget: JumpKey;
  readonly rpm: JumpKey;
  readonly tpm: JumpKey;
  readonly keyed: JumpKey;
}

/** Keys of the whole run. */
interface Lasting {
  readonly plain: JumpKey;
  /** Whose budgets are spent. */
  readonly spent: readonly JumpKey[];
  readonly ended: readonly JumpKey[];
  readonly mortal: JumpKey;
}

interface JumpsOptions {
  readonly clocks: SetClocks;
  /** Names of the clocks that are set: "redis", and each cell's. */
  readonly names: readonly string[];
  /** Milliseconds by which all clocks are ahead of the real one while they are right. */
  readonly rightMs: number;
  /** Keys of other orgs: one is to have a monthly budget, the plan of the other has limits. */
  readonly secrets: Readonly<Record<"monthly" | "limited", string>>;
}

export class Jumps {
  readonly #world: CellsWorld;
  readonly #clocks: SetClocks;
  readonly #names: readonly string[];
  readonly #rightMs: number;
  readonly #secrets: JumpsOptions["secrets"];
  readonly #keys: JumpKeys;
  #lasting: Lasting | undefined;
  #count = 0;

  constructor(world: CellsWorld, held: Held, { clocks, names, rightMs, secrets }: JumpsOptions) {
    this.#world = world;
    this.#clocks = clocks;
    this.#names = names;
    this.#rightMs = rightMs;
    this.#secrets = secrets;
    this.#keys = new JumpKeys(world, held);
  }

  /** Makes the keys of the whole run. */
  async open(): Promise<void> {
    const keys = this.#keys;
    const [daily, monthly, ofOrg] = await Promise.all([
      keys.daily("a daily budget"),
      keys.monthly(),
      keys.ofOrg(this.#secrets.monthly),
    ]);
    const spent = [daily, monthly, ofOrg];
    for (const key of spent) await key.spend();
    for (const key of spent) assert.equal(key.calls, ROOM, key.what);
    this.#lasting = {
      plain: keys.plain(),
      spent,
      ended: await Promise.all([keys.revoked(), keys.replaced()]),
      mortal: await keys.make("a key that ends in two hours", { expires_in: "2h" }),
    };
  }

  /** There and back. @param meanwhile is done while the clocks are wrong */
  async jump(jump: Jump, meanwhile = async (_logFrom: number) => {}): Promise<void> {
    const fresh = await this.#fresh();
    const logFrom = this.#world.cells.output().length;
    const rightShiftMs = await this.#shiftMs();
    const before = this.#calls(fresh);
    if (jump.whose === "Redis") await this.#setRedis(jump);
    else this.#set(jump, jump.ms);
    await this.#callAll(jump, fresh);
    await this.#isFelt(jump, logFrom, rightShiftMs);
    await this.#callAll(jump, fresh);
    if (jump.whose === "Redis") await this.#assertNotRetired();
    if (this.#ends(jump))
      await until("a key ends by a clock that all have", () => this.#kept.mortal.call(), equals(401));
    await meanwhile(logFrom);
    const putRightFrom = this.#world.cells.output().length;
    this.#set(jump, 0);
    await this.#callAll(jump, fresh);
    await this.#isOver(jump, { logFrom, putRightFrom, rightShiftMs });
    this.#assertBudgets(jump, fresh, before);
    await this.#assertWell(jump, fresh);
  }

  /** Whose clocks say another day than the true one, or another month. */
  isFalse({ ms }: Jump, length: "day" | "month"): boolean {
    const cut = length === "day" ? 10 : 7;
    const nowMs = Date.now() + this.#rightMs;
    return isoOf(nowMs).slice(0, cut) !== isoOf(nowMs + ms).slice(0, cut);
  }

  get #kept(): Lasting {
    assert.ok(this.#lasting);
    return this.#lasting;
  }

  /** Whether a key that lives for two hours has ended by all clocks. */
  #ends = ({ whose, ms }: Jump): boolean => whose === "all" && ms > HOUR_MS;

  #set({ whose }: Jump, ms: number): void {
    const cells = this.#names.filter((name) => name !== "redis");
    const which = { Redis: ["redis"], "one cell": cells.slice(1, 2), all: this.#names }[whose];
    this.#clocks.set(which, this.#rightMs + ms);
  }

  /** Redis is asked nothing from then on: a call that is admitted is so by a lease. */
  async #setRedis(jump: Jump): Promise<void> {
    const { plain } = this.#kept;
    await until("calls go on by leases", async () => {
      // Many calls let a cell lease more than they need. A late machine has given that back before the clock is set.
      for (let round = 0; round < LEASING_ROUNDS; round++)
        await Promise.all(Array.from({ length: 2 * AT_ONCE }, () => plain.known()));
      this.#set(jump, jump.ms);
      const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => plain.call()));
      if (statuses.includes(200)) return true;
      this.#set(jump, 0);
      return false;
    });
  }

  /** Keys of one jump: a budget of which one call is spent, limits that are used up, a call that was answered. */
  async #fresh(): Promise<Fresh> {
    const n = ++this.#count;
    const [budget, rpm, tpm, keyed] = await Promise.all([
      this.#keys.daily(`budget ${n}`),
      this.#keys.limited(`rpm ${n}`, { rpm: RPM }, this.#secrets.limited),
      this.#keys.limited(`tpm ${n}`, { tpm: TPM }, this.#secrets.limited),
      this.#keys.make(`keyed ${n}`, {}, `keyed-${n}`),
    ]);
    for (const key of [budget, keyed]) assert.equal(await key.known(), 200, key.what);
    await Promise.all([
      until("the requests of a minute are used", () => rpm.call(), equals(429)),
      until("the tokens of a minute are used", () => tpm.call(), equals(429)),
    ]);
    return { budget, rpm, tpm, keyed };
  }

  /** Calls with all keys at once, at any cells. @throws AssertionError for an answer that must not be */
  async #callAll(jump: Jump, { budget, rpm, tpm, keyed }: Fresh): Promise<void> {
    const { plain, spent, ended, mortal } = this.#kept;
    const isAll = jump.whose === "all";
    const opens = (length: "day" | "month") => (isAll && this.isFalse(jump, length) ? [200] : []);
    const calls: (readonly [JumpKey, readonly number[]])[] = [
      [plain, [200]],
      [budget, [200, 402]],
      [rpm, [200, 429]],
      [tpm, [200, 429]],
      // In Redis its bytes have an end by Redis's clock, so the answer may be gone: 409 says that it was charged once.
      [keyed, [200, 409]],
      [mortal, this.#ends(jump) ? [200, 401] : [200]],
      ...spent.map((key, at) => [key, [402, ...opens(at === 0 ? "day" : "month")]] as const),
      ...ended.map((key) => [key, [401]] as const),
    ];
    await Promise.all(
      calls.flatMap(([key, may]) =>
        Array.from({ length: AT_ONCE }, async () => {
          const status = await key.call();
          assert.ok([...may, UNDECIDED].includes(status), `${key.what}: ${status}; ${told(jump)}`);
        }),
      ),
    );
  }

  #calls({ budget }: Fresh): number[] {
    return [budget, ...this.#kept.spent].map((key) => key.calls);
  }

  /** No budget was exceeded; where all clocks were set, at most once more for the false day. */
  #assertBudgets(jump: Jump, fresh: Fresh, before: readonly number[]): void {
    const after = this.#calls(fresh);
    for (const [at, calls] of after.entries()) {
      const opens = jump.whose === "all" && this.isFalse(jump, at < 2 ? "day" : "month");
      const most = opens ? (before[at] ?? 0) + ROOM : Math.max(ROOM, before[at] ?? 0);
      assert.ok(calls <= most, `budget ${at}: ${calls} calls, ${before[at]} before; ${told(jump)}`);
    }
  }

  /** Every cell has noticed the jump, or need not. */
  async #isFelt({ whose, ms }: Jump, logFrom: number, rightShiftMs: number): Promise<void> {
    if (whose === "Redis") {
      const lines = await until(
        "each cell doubts Redis's clock",
        () => this.#lines(DOUBTED, logFrom),
        (seen) => new Set(seen.map((line) => JSON.parse(line).cell)).size === this.#world.count,
      );
      for (const line of lines) {
        const { redis, machine } = JSON.parse(line);
        const aheadMs = Date.parse(redis) - Date.parse(machine);
        assert.ok(Math.abs(aheadMs - ms) < HOUR_MS / 120, line);
      }
    }
    if (whose === "all")
      await until(
        "all clocks are taken to be set",
        () => this.#shiftMs(),
        (shiftMs) => Math.abs(shiftMs - rightShiftMs - ms) < RETURN_MS,
      );
  }

  async #isOver(
    { whose }: Jump,
    {
      logFrom,
      putRightFrom,
      rightShiftMs,
    }: { readonly logFrom: number; readonly putRightFrom: number; readonly rightShiftMs: number },
  ): Promise<void> {
    if (whose === "Redis")
      await until(
        "each process that doubted Redis's clock goes by it",
        () => {
          const agree = this.#pids(AGREED, putRightFrom);
          return [...this.#pids(DOUBTED, logFrom)].filter((pid) => lives(pid) && !agree.has(pid));
        },
        equals([]),
      );
    if (whose === "all")
      await until(
        "all clocks are on their course again",
        () => this.#shiftMs(),
        (shiftMs) => Math.abs(shiftMs - rightShiftMs) < RETURN_MS,
      );
    await this.#world.allReady();
  }

  /** Everything works, and what was spent is spent. */
  async #assertWell(jump: Jump, { budget, rpm, tpm, keyed }: Fresh): Promise<void> {
    const { plain, spent, ended, mortal } = this.#kept;
    for (const key of [plain, mortal]) assert.equal(await key.known(), 200, `${key.what}; ${told(jump)}`);
    for (const key of spent) assert.equal(await key.known(), 402, `${key.what}; ${told(jump)}`);
    for (const key of ended) assert.equal(await key.known(), 401, `${key.what}; ${told(jump)}`);
    assert.ok([200, 409].includes(await keyed.known()), told(jump));
    const calls = budget.calls;
    await budget.spend();
    assert.equal(budget.calls, Math.max(calls, ROOM), `a budget of ${BUDGET}; ${told(jump)}`);
    assert.ok(rpm.mostInMinute() <= RPM, `${rpm.mostInMinute()} requests in a minute; ${told(jump)}`);
    assert.ok(tpm.mostInMinute() <= MOST_OF_TPM, `${tpm.mostInMinute()} of tpm in a minute; ${told(jump)}`);
    for (const key of [budget, ...spent]) await this.#assertSpend(key, jump);
  }

  async #assertSpend(key: JumpKey, jump: Jump): Promise<void> {
    const microUsd = key.calls * COST;
    await until(
      `/v1/limits says what ${key.what} spent; ${told(jump)}`,
      async () => {
        const { text } = await this.#world.ask("GET", "/v1/limits", {
          key: key.isOfFirstOrg ? this.#world.key : key.secret,
        });
        const { keys } = JSON.parse(text) as {
          keys: { key_id: string; spend_today_micro: number; spend_month_micro: number }[];
        };
        const found = keys.find(({ key_id }) => key_id === key.id);
        return [found?.spend_today_micro, found?.spend_month_micro];
      },
      equals([microUsd, microUsd]),
    );
  }

  /** All cells live, and by a clock that was set each would have been silent for long. */
  async #assertNotRetired(): Promise<void> {
    for (const cell of this.#names.filter((name) => name !== "redis")) {
      const { operatorKey: key } = this.#world;
      const { status, text } = await this.#world.ask("POST", `/v1/operator/cells/${cell}/retire`, { key });
      assert.ok([409, 503].includes(status), `retiring ${cell}: ${status} ${text}`);
    }
  }

  async #shiftMs(): Promise<number> {
    const [shift = ""] = (await this.#world.redis("HGET", "{weir}:dataset", "shift")) ?? [];
    return Number(shift === "null" ? 0 : shift);
  }

  #lines(what: string, from: number): string[] {
    return this.#world.cells
      .output()
      .slice(from)
      .split("\n")
      .filter((line) => line.includes(what));
  }

  #pids(what: string, from: number): Set<number> {
    return new Set(this.#lines(what, from).map((line) => JSON.parse(line).pid));
  }
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

export const told = ({ whose, ms }: Jump): string => `${whose} ${ms < 0 ? "-" : "+"}${Math.abs(ms) / 1000} s`;
