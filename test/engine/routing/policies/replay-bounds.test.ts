/** What bounds a replay: how many at once, how long, and what its thread is told. */
import { serialize } from "node:v8";
import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { fail, type WeirError } from "../../../../src/base/errors.ts";
import { platformKey } from "../../../../src/base/provider-key.ts";
import { replaySchema } from "../../../../src/routing/policies/replay/replay-report.ts";
import {
  DEAR,
  HOSTS,
  held,
  kindOf,
  openTraffic,
  replay,
  replaysOf,
  type TrafficBench,
} from "../../../support/policies/replay.fixtures.ts";
import { model } from "../../../support/routing/fixtures.ts";
import { until } from "../../../support/wait.ts";

let home: TrafficBench;
beforeAll(async () => {
  home = await openTraffic();
});
afterAll(() => home.close());
afterEach(() => vi.restoreAllMocks());

const PRICE_FIRST = "version: 1\nsort: price\n";

describe("bounds", () => {
  test("one an org and two in all, whoever asks at once; a place is free again when one ends", async () => {
    const { traffic, letGo } = held(home.traffic);
    const replays = replaysOf(traffic);
    const mine = Array.from({ length: 200 }, () => kindOf(replay(replays, PRICE_FIRST, { orgId: "org_1" })));
    const other = kindOf(replay(replays, PRICE_FIRST, { orgId: "org_2" }));
    const third = kindOf(replay(replays, PRICE_FIRST, { orgId: "org_3" }));
    expect(await third).toBe("concurrency");
    letGo();
    const kinds = await Promise.all(mine);
    expect(kinds.filter((kind) => kind === "resolved")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "concurrency")).toHaveLength(199);
    expect(await other).toBe("resolved");
    expect(await kindOf(replay(replays, PRICE_FIRST, { orgId: "org_3" }))).toBe("resolved");
  });

  test("a replay that fails, takes too long or is stopped says so and leaves no thread", async () => {
    const ended = vi.spyOn(Worker.prototype, "terminate");
    const away = {
      ...home.traffic,
      page: async () => {
        throw fail("analytics_unavailable", "away");
      },
    };
    const failing = replaysOf(away);
    expect(await kindOf(replay(failing, PRICE_FIRST))).toBe("analytics_unavailable");

    const cut = { ...home.traffic, page: async () => [new Uint8Array([1, 2, 3])] };
    const broken = await replay(replaysOf(cut), PRICE_FIRST).catch((error: WeirError) => error);
    expect(broken).toMatchObject({ kind: "internal", message: expect.stringContaining("replay failed") });

    const slow = replaysOf(held(home.traffic).traffic, [HOSTS], { bounds: { timeoutMs: 20 } });
    const late = await replay(slow, PRICE_FIRST).catch((error: WeirError) => error);
    expect(late).toMatchObject({
      kind: "analytics_unavailable",
      message: expect.stringContaining("fewer hours"),
    });

    const stopped = replaysOf(held(home.traffic).traffic);
    const running = kindOf(replay(stopped, PRICE_FIRST));
    await stopped.close();
    expect(await running).toBe("shutting_down");
    expect(await kindOf(replay(stopped, PRICE_FIRST))).toBe("shutting_down");
    expect(ended).toHaveBeenCalledTimes(4);
    const threads = ended.mock.contexts as unknown as Worker[];
    await until("all threads have ended", () => threads.every(({ threadId }) => threadId === -1));
  });

  test("an unreadable version is reported as such", async () => {
    const replays = replaysOf(home.traffic);
    const error = await replay(replays, "version: 1\nfallback: true\n").catch((thrown: WeirError) => thrown);
    expect(error).toMatchObject({
      kind: "state",
      message: expect.stringMatching(/Version 2 of draft .* line 2/),
    });
  });

  test.each([{ hours: 0 }, { hours: 721 }, { hours: 1.5 }, { hours: 1, version: 0 }, { hours: 1, days: 1 }])(
    "%j is refused",
    (body) => expect(replaySchema.safeParse(body).success).toBe(false),
  );
});

test("no credential, address or header of a provider reaches the thread", async () => {
  const secret = "sk-very-secret-0123456789";
  const provider = {
    ...DEAR.provider,
    keys: [platformKey("dear", 1, secret)],
    baseUrl: "http://hidden.example",
    headers: { "x-hidden": "hidden" },
  };
  const sent: Buffer[] = [];
  const post = Worker.prototype.postMessage;
  vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, message, transfer) {
    sent.push(serialize(message));
    return post.call(this, message, transfer as []);
  });
  vi.stubEnv("HIDDEN_KEY", secret);
  await replay(replaysOf(home.traffic, [model({ ...DEAR, provider })]), PRICE_FIRST);
  vi.unstubAllEnvs();
  expect(sent.length).toBeGreaterThan(2);
  const all = Buffer.concat(sent).toString("latin1");
  expect(all).toContain("ep_dear");
  expect(all).not.toMatch(/secret|hidden|6789/);
});
