/**
 * The lines of calls that wait for what others hold, with wishes that a test grants: who is served in which order, how often credit is
 * asked for, and how a wait ends.
 */
import { describe, expect, test } from "vitest";
import type { KeyContext } from "../../../../../src/account/keyring.ts";
import { fail, type WeirError } from "../../../../../src/base/errors.ts";
import type { MaybePromise } from "../../../../../src/base/maybe-promise.ts";
import type { BudgetName, BudgetRefusal } from "../../../../../src/credits/budgets/budget.ts";
import type { ClientReply } from "../../../../../src/inference/client-reply.ts";
import {
  Call,
  type Incoming,
  type PlannedCall,
  type Reservation,
} from "../../../../../src/inference/exchange/call.ts";
import {
  ClientLeft,
  HoldQueue,
  type HoldQueueDeps,
  type Wish,
} from "../../../../../src/inference/exchange/reservation/hold-queue.ts";
import type { HoldRefusal, Holds } from "../../../../../src/inference/exchange/reservation/holds.ts";
import { chatFormat } from "../../../../../src/wire/chat/format.ts";
import { ManualTime } from "../../../../support/jobs/fixtures.ts";

const WAIT_MS = 5000;
const LOOK_MS = 200;
const KEEP_ALIVE_MS = 1000;

const CREDIT: HoldRefusal = { refusedBy: "credit" };
const budget = (name: BudgetName): HoldRefusal => ({
  refusedBy: "budget",
  budget: { budget: name } as BudgetRefusal,
});
const NEVER = fail("insufficient_credits", "never");
const held = (name: string): Reservation => ({
  holds: { credit: name, budget: name } as unknown as Holds,
  inputTokens: 1,
  outputTokens: 1,
});

type Ids = Partial<Pick<KeyContext, "orgId" | "projectId" | "keyId" | "lineageId">>;

/** All that is to be done without a timer is done. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

function rig(more: Partial<HoldQueueDeps> = {}) {
  const time = new ManualTime();
  const released: unknown[] = [];
  const deps = {
    clock: time,
    timers: time,
    maxWaiting: 6,
    maxWaitingOfOrg: 4,
    keepAliveMs: KEEP_ALIVE_MS,
    limits: { state: () => ({ requests: undefined, tokens: undefined }) },
    purse: { release: (hold: unknown) => released.push(hold) },
    budgets: { release: () => {} },
    ...more,
  } as unknown as HoldQueueDeps;
  const queue = new HoldQueue(deps);
  const asked: string[] = [];
  const ended: string[] = [];
  const errors: WeirError[] = [];

  /** A call in the line. Its wish is refused for `lacks` until a test sets that to nothing. */
  function enter(
    name: string,
    { orgId = "org", projectId = "prj", keyId = "key", lineageId = keyId }: Ids = {},
    refusal?: HoldRefusal,
    faults: object = {},
  ) {
    const sent: string[] = [];
    let leave = () => {};
    const reply = {
      openStream: () => sent.push("head"),
      write: (bytes: Buffer) => sent.push(bytes.toString()),
      onGone: (gone: () => void) => (leave = gone),
      ...faults,
    } as unknown as ClientReply;
    const key = { orgId, projectId, keyId, lineageId } as KeyContext;
    const call = new Call({
      key,
      format: chatFormat,
      reply,
    } as unknown as Incoming) as unknown as PlannedCall;
    const entry = {
      lacks: CREDIT as HoldRefusal | undefined,
      isPossible: true,
      take: (): MaybePromise<Reservation | HoldRefusal> => entry.lacks ?? held(name),
      takeLast: (): MaybePromise<Reservation | HoldRefusal> => entry.lacks ?? held(name),
      sent,
      call,
      leave: () => leave(),
    };
    const wish: Wish = {
      renew: () => {},
      take() {
        asked.push(name);
        return entry.take();
      },
      takeLast: () => entry.takeLast(),
      couldBeMet: () => entry.isPossible,
      refusal: () => NEVER,
    };
    const wait = queue.enter(call, wish, WAIT_MS, refusal);
    wait.then(
      () => ended.push(name),
      (error: WeirError) => {
        ended.push(`${name} ${error instanceof ClientLeft ? "left" : error.code}`);
        errors.push(error);
      },
    );
    return entry;
  }

  return { queue, time, released, asked, ended, errors, enter };
}

describe("C14: the line of an org", () => {
  test("is served in order, and none behind one that lacks credit is asked", async () => {
    const { enter, queue, asked, ended } = rig();
    const [first, second] = [enter("first"), enter("second")];
    second.lacks = undefined;
    queue.freed("org");
    await turn();
    expect([ended, new Set(asked)]).toEqual([[], new Set(["first"])]);
    first.lacks = undefined;
    queue.freed("org");
    await turn();
    expect(ended).toEqual(["first", "second"]);
    expect([queue.size, queue.hasLine("org")]).toEqual([0, false]);
  });

  test.each<[BudgetName, readonly string[]]>([
    ["key_daily", ["same project", "other"]],
    ["project_monthly", ["other"]],
    ["org_monthly", []],
  ])("is passed by those whom the budget does not concern: %s", async (name, passing) => {
    const { enter, queue, ended } = rig();
    enter("head").lacks = budget(name);
    enter("same key").lacks = undefined;
    enter("same project", { keyId: "key_2" }).lacks = undefined;
    enter("other", { keyId: "key_3", projectId: "prj_2" }).lacks = undefined;
    queue.freed("org");
    await turn();
    expect(ended).toEqual(passing);
  });

  test("is passed by no key of the lineage whose budget it waits for", async () => {
    const { enter, queue, ended } = rig();
    enter("head", { lineageId: "first" }).lacks = budget("key_daily");
    enter("rotated", { keyId: "key_2", lineageId: "first" }).lacks = undefined;
    enter("other", { keyId: "key_3" }).lacks = undefined;
    queue.freed("org");
    await turn();
    expect(ended).toEqual(["other"]);
  });

  test("is another one than that of another org", async () => {
    const { enter, queue, ended } = rig();
    enter("head");
    enter("other", { orgId: "org_2" }).lacks = undefined;
    queue.freed("org_2");
    await turn();
    expect(ended).toEqual(["other"]);
  });

  test("is looked at five times a second, its head alone: no more is asked of Redis while all wait", async () => {
    const { enter, time, asked } = rig();
    enter("first");
    enter("second");
    await turn();
    asked.length = 0;
    for (let look = 0; look < 10; look++) {
      time.advance(LOOK_MS);
      await turn();
    }
    expect(asked).toEqual(Array(10).fill("first"));
  });

  test("has room for so many", () => {
    const { enter, queue } = rig();
    for (let count = 0; count < 4; count++) {
      expect(queue.hasRoom("org")).toBe(true);
      enter(`${count}`);
    }
    expect([queue.hasRoom("org"), queue.hasRoom("org_2")]).toEqual([false, true]);
    enter("4", { orgId: "org_2" });
    enter("5", { orgId: "org_2" });
    expect(queue.hasRoom("org_3")).toBe(false);
  });
});

describe("C14: a wait ends", () => {
  test("by time, and the next is served", async () => {
    const { enter, time, ended } = rig();
    const first = enter("first");
    time.advance(WAIT_MS / 2);
    enter("second").lacks = undefined;
    await turn();
    time.advance(WAIT_MS / 2);
    await turn();
    expect(ended).toEqual(["first insufficient_credits", "second"]);
    expect(first.call.waitedMs).toBe(WAIT_MS);
  });

  test("where its wish can be met no more", async () => {
    const { enter, queue, ended } = rig();
    const entry = enter("first");
    await turn();
    entry.isPossible = false;
    queue.freed("org");
    await turn();
    expect(ended).toEqual(["first insufficient_credits"]);
  });

  test("where its wish can be met no more by a budget, which is asked in full first: it is told of as exceeded", async () => {
    const { enter, queue, ended } = rig();
    const entry = enter("first");
    entry.lacks = budget("key_daily");
    entry.isPossible = false;
    let last = 0;
    entry.takeLast = () => {
      last++;
      return budget("key_daily");
    };
    queue.freed("org");
    await turn();
    expect([last, ended]).toEqual([1, ["first insufficient_credits"]]);
  });

  test.each<[string, HoldRefusal, RegExp, object | undefined]>([
    ["credit", CREDIT, /the credit that/, undefined],
    ["a budget", budget("project_monthly"), /project's monthly budget that/, { budget: "project_monthly" }],
  ])("by time, and names what it lacked: %s", async (_, lacks, words, details) => {
    const { enter, queue, time, errors } = rig();
    enter("first").lacks = lacks;
    queue.freed("org");
    await turn();
    time.advance(WAIT_MS);
    await turn();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: "insufficient_credits", message: expect.stringMatching(words) });
    expect(errors[0]?.details).toEqual(details);
  });

  test("by time, and names what it lacked when it came", async () => {
    const { enter, time, errors } = rig();
    enter("first", {}, budget("key_daily"));
    time.advance(WAIT_MS);
    await turn();
    expect(errors[0]?.message).toMatch(/key's daily budget/);
  });

  test("when its client leaves", async () => {
    const { enter, ended } = rig();
    const first = enter("first");
    enter("second").lacks = undefined;
    first.leave();
    await turn();
    expect(ended).toEqual(["first left", "second"]);
  });

  test("at a shutdown, also for one that comes after it", async () => {
    const { enter, queue, ended } = rig();
    enter("first");
    queue.shutDown();
    enter("late");
    await turn();
    expect(ended).toEqual(["first shutting_down", "late shutting_down"]);
    expect(queue.size).toBe(0);
  });

  test.each(["openStream", "write", "onGone"])("by a fault of the reply as it begins: %s", async (name) => {
    const { enter, queue, ended, asked } = rig();
    const fault = () => {
      throw new TypeError("a fault of ours");
    };
    enter("first", {}, undefined, { [name]: fault });
    await turn();
    expect([ended, queue.size, queue.hasLine("org")]).toEqual([["first undefined"], 0, false]);
    queue.freed("org");
    await turn();
    expect(asked).toEqual([]);
  });

  test("by a fault of the reply later", async () => {
    const { enter, queue, time, ended } = rig();
    let sent = 0;
    const write = () => {
      if (++sent > 1) throw new TypeError("a fault of ours");
    };
    enter("first", {}, undefined, { write });
    time.advance(KEEP_ALIVE_MS);
    await turn();
    expect([sent, ended, queue.size]).toEqual([2, ["first undefined"], 0]);
  });

  test("by a fault of the wish, and the line goes on", async () => {
    const { enter, queue, ended } = rig();
    enter("first").take = () => {
      throw new TypeError("a fault of ours");
    };
    enter("second").lacks = undefined;
    queue.freed("org");
    await turn();
    expect(ended).toEqual(["first undefined", "second"]);
  });
});

describe("C14: where credit is kept elsewhere", () => {
  test("holds that come when the wait is over are given back", async () => {
    const { enter, queue, ended, released } = rig();
    const { promise, resolve } = Promise.withResolvers<Reservation>();
    const entry = enter("first");
    entry.take = () => promise;
    queue.freed("org");
    await turn();
    entry.leave();
    resolve(held("first"));
    await turn();
    expect([ended, released]).toEqual([["first left"], ["first"]]);
  });

  test("one that does not answer is asked seldom", async () => {
    const { enter, queue, time, asked } = rig();
    enter("first").take = () => Promise.reject(fail("storage_unavailable", "not known in time"));
    queue.freed("org");
    await turn();
    for (let look = 0; look < 19; look++) {
      time.advance(LOOK_MS);
      await turn();
    }
    expect(asked).toHaveLength(2);
  });

  test("one that does not answer keeps the line waiting, and is named where the time is over", async () => {
    const { enter, time, ended } = rig();
    const entry = enter("first");
    entry.take = () => Promise.reject(fail("storage_unavailable", "not known in time"));
    enter("second").lacks = undefined;
    await turn();
    expect(ended).toEqual([]);
    time.advance(WAIT_MS);
    await turn();
    expect(ended).toEqual(["first storage_unavailable", "second insufficient_credits"]);
  });
});

describe("C14: what the client is sent meanwhile", () => {
  test("is the head of a stream and a comment, and more comments after a silence", async () => {
    const { enter, time, queue } = rig();
    const entry = enter("first");
    expect(entry.sent).toEqual(["head", chatFormat.keepAlive]);
    time.advance(KEEP_ALIVE_MS);
    time.advance(KEEP_ALIVE_MS);
    expect(entry.sent).toHaveLength(4);
    expect([entry.call.streaming, entry.call.bytesOut]).toEqual([true, 3 * chatFormat.keepAlive.length]);
    entry.lacks = undefined;
    queue.freed("org");
    await turn();
    time.advance(KEEP_ALIVE_MS);
    expect(entry.sent).toHaveLength(4);
  });

  test("is the head and one comment alone, where keep-alives are off", () => {
    const { enter, time } = rig({ keepAliveMs: 0 });
    const entry = enter("first");
    time.advance(WAIT_MS - 1);
    expect(entry.sent).toHaveLength(2);
  });
});
