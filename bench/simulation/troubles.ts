/** The troubles in which routing is simulated, and the policies for each. */
import type { PolicyBlock } from "../../src/routing/language/policy-document.ts";
import type { SimulatedEndpoint } from "./catalog.ts";
import type { Spell } from "./upstream.ts";
import type { World } from "./world.ts";

/** Additional columns of a trouble. */
type Extra = "canary" | "affinity";

export interface Trouble
  extends Pick<World, "endpoints" | "requestsPerSecond" | "isWhole" | "sessions" | "atOnce"> {
  readonly name: string;
  /** Description in one line. */
  readonly what: string;
  readonly ways: readonly { readonly name: string; readonly policy: PolicyBlock }[];
  /** The affected endpoints, and until when: for the recovery time. */
  readonly recovers?: {
    readonly endpoints: readonly string[];
    readonly fromS: number;
    readonly untilS: number;
  };
  readonly extra?: Extra;
  /** Number of calls of a run, if the trouble determines it. */
  readonly requests?: number;
}

const steady = (id: string, price: number, ttftMs: number): SimulatedEndpoint => ({
  id,
  price,
  ttftMs,
  spread: 0.35,
  tokensPerSecond: 80,
});

const OUTAGE = { fromS: 60, untilS: 120 };
const out = (endpoint: SimulatedEndpoint, spell: Pick<Spell, "kind" | "factor">): SimulatedEndpoint => ({
  ...endpoint,
  spells: [{ ...OUTAGE, ...spell }],
});
const recovery = (...endpoints: string[]) => ({ recovers: { endpoints, ...OUTAGE } });

const BALANCED = { name: "balanced", policy: {} };
const UNHELPED = { name: "balanced, no fallbacks", policy: { fallbacks: false } };
const PRICE = { name: "price", policy: { sort: "price" } } as const;
const LATENCY = { name: "latency", policy: { sort: "latency" } } as const;

const outages = (["error", "refused", "silent"] as const).map(
  (kind): Trouble => ({
    name: `outage: ${kind}`,
    what: `the cheapest is out from second 60 to 120 (${kind})`,
    endpoints: [out(steady("a", 1, 400), { kind }), steady("b", 2, 400), steady("c", 2, 400)],
    requestsPerSecond: 30,
    ...recovery("a"),
    ways: [
      UNHELPED,
      BALANCED,
      PRICE,
      { name: "price, timeout 6 s", policy: { sort: "price", timeout_ms: 6000 } },
      { name: "price, hedge after 2 s", policy: { sort: "price", hedge_after_ms: 2000 } },
    ],
  }),
);

const failing: readonly Trouble[] = [
  ...outages,
  {
    name: "outage: silent, whole answers",
    what: "the same for calls that do not stream",
    endpoints: [out(steady("a", 1, 400), { kind: "silent" }), steady("b", 2, 400), steady("c", 2, 400)],
    requestsPerSecond: 30,
    isWhole: true,
    ...recovery("a"),
    ways: [
      BALANCED,
      PRICE,
      { name: "price, timeout 6 s", policy: { sort: "price", timeout_ms: 6000 } },
      { name: "price, hedge after 2 s", policy: { sort: "price", hedge_after_ms: 2000 } },
    ],
  },
  {
    name: "two fail together",
    what: "the two cheap ones are out from second 60 to 120 (error); the third costs ten times as much",
    endpoints: [
      out(steady("a", 1, 400), { kind: "error" }),
      out(steady("b", 1, 400), { kind: "error" }),
      steady("c", 10, 400),
    ],
    requestsPerSecond: 30,
    ...recovery("a", "b"),
    ways: [BALANCED, PRICE, { name: "two attempts at most", policy: { max_attempts: 2 } }],
  },
  {
    name: "flaky",
    what: "the cheapest fails one call in three, from second 60 to 180",
    endpoints: [
      { ...steady("a", 1, 400), spells: [{ fromS: 60, untilS: 180, kind: "error", share: 1 / 3 }] },
      steady("b", 1.2, 400),
    ],
    requestsPerSecond: 30,
    ways: [UNHELPED, BALANCED, PRICE],
  },
  {
    name: "rolling brown-out",
    what: "one after the other fails one call in five for 40 s, from second 60 to 180",
    endpoints: ["a", "b", "c"].map((id, at) => ({
      ...steady(id, 1 + at / 10, 400),
      spells: [{ fromS: 60 + 40 * at, untilS: 100 + 40 * at, kind: "error", share: 0.2 }],
    })),
    requestsPerSecond: 30,
    ways: [UNHELPED, BALANCED, PRICE],
  },
];

const saturated: readonly Trouble[] = [
  {
    name: "saturation",
    what: "the cheapest takes 8 calls at once and answers 429 beyond; 40 calls a second would want 26",
    endpoints: [{ ...steady("a", 1, 400), maxInFlight: 8 }, steady("b", 2, 400)],
    requestsPerSecond: 40,
    ways: [PRICE, BALANCED],
  },
  {
    name: "saturation, alone",
    what: "the only endpoint takes 8 calls at once; 11 calls a second want 7, now and then more",
    endpoints: [{ ...steady("a", 1, 400), maxInFlight: 8 }],
    requestsPerSecond: 11,
    ways: [PRICE],
  },
  {
    name: "one 429, alone",
    what: "the only endpoint streams each answer for 20 s; in second 60 it answers 429, without a Retry-After",
    endpoints: [
      { ...steady("a", 1, 400), tokensPerSecond: 1, spells: [{ fromS: 60, untilS: 61, kind: "busy" }] },
    ],
    requestsPerSecond: 30,
    ways: [PRICE],
  },
  {
    name: "key pool",
    what: "the cheapest has four keys, 8 calls at once for each; 40 calls a second would want 26",
    endpoints: [{ ...steady("a", 1, 400), maxInFlight: 8, keys: 4 }, steady("b", 2, 400)],
    requestsPerSecond: 40,
    ways: [PRICE],
  },
  {
    name: "quota",
    what: "the cheapest takes 600 calls a minute and says when the minute is over; 20 a second come",
    endpoints: [{ ...steady("a", 1, 400), quota: { calls: 600, perS: 60 } }, steady("b", 2, 400)],
    requestsPerSecond: 20,
    ways: [PRICE],
  },
  {
    name: "quota of a second",
    what: "the cheapest takes 10 calls a second; 20 a second come",
    endpoints: [{ ...steady("a", 1, 400), quota: { calls: 10, perS: 1 } }, steady("b", 2, 400)],
    requestsPerSecond: 20,
    ways: [PRICE],
  },
  {
    name: "sporadic 429",
    what: "the cheapest refuses one call in twenty, without a reason and a Retry-After",
    endpoints: [
      { ...steady("a", 1, 400), spells: [{ fromS: 0, untilS: 1e6, kind: "busy", share: 0.05 }] },
      steady("b", 2, 400),
    ],
    requestsPerSecond: 40,
    ways: [PRICE],
  },
  {
    name: "Retry-After of 60 s",
    what: "from second 60 to 61 the cheapest answers 429 and asks for a minute",
    endpoints: [
      {
        ...steady("a", 1, 400),
        spells: [{ fromS: 60, untilS: 61, kind: "busy", retryAfterMs: 60_000 }],
      },
      steady("b", 2, 400),
    ],
    requestsPerSecond: 30,
    recovers: { endpoints: ["a"], fromS: 60, untilS: 120 },
    ways: [BALANCED, PRICE],
  },
];

const slow: readonly Trouble[] = [
  {
    name: "slowdown",
    what: "the quickest takes ten times as long from second 60 to 120",
    endpoints: [
      out(steady("a", 1, 200), { kind: "slow", factor: 10 }),
      steady("b", 1, 400),
      steady("c", 1, 400),
    ],
    requestsPerSecond: 30,
    ...recovery("a"),
    ways: [LATENCY, BALANCED],
  },
  {
    name: "long tail",
    what: "one call in fifty of every endpoint waits 6 s for its first token",
    endpoints: ["a", "b", "c"].map((id) => ({ ...steady(id, 1, 400), tail: { share: 0.02, ttftMs: 6000 } })),
    requestsPerSecond: 30,
    ways: [
      { name: "no hedge", policy: {} },
      { name: "hedge after 2 s", policy: { hedge_after_ms: 2000 } },
      { name: "hedge after 1 s", policy: { hedge_after_ms: 1000 } },
      { name: "hedge after 0.5 s", policy: { hedge_after_ms: 500 } },
    ],
  },
  {
    name: "long tail, whole answers",
    what: "the same for calls that do not stream",
    endpoints: ["a", "b", "c"].map((id) => ({ ...steady(id, 1, 400), tail: { share: 0.02, ttftMs: 6000 } })),
    requestsPerSecond: 30,
    isWhole: true,
    ways: [
      { name: "no hedge", policy: {} },
      { name: "hedge after 2 s", policy: { hedge_after_ms: 2000 } },
    ],
  },
  {
    name: "cold start",
    what: "nothing is known yet, 200 calls come at once; c is the quickest",
    endpoints: [steady("a", 1, 2000), steady("b", 1, 800), steady("c", 1, 300)],
    requestsPerSecond: 1,
    atOnce: 200,
    requests: 200,
    ways: [LATENCY, BALANCED],
  },
];

const canary = { endpoint: "b", percent: 10, max_error_rate: 0.05, min_samples: 20 };

const policies: readonly Trouble[] = [
  {
    name: "canary",
    what: "b is on trial, at most 5 % may fail; it fails 30 % from the start",
    endpoints: [
      steady("a", 1, 400),
      { ...steady("b", 1, 400), spells: [{ fromS: 0, untilS: 1e6, kind: "error", share: 0.3 }] },
    ],
    requestsPerSecond: 30,
    extra: "canary",
    ways: [
      { name: "10 %, no fallbacks", policy: { canary, fallbacks: false } },
      { name: "10 %", policy: { canary } },
      { name: "1 %", policy: { canary: { ...canary, percent: 1 } } },
      { name: "10 %, 20 % may fail", policy: { canary: { ...canary, max_error_rate: 0.2 } } },
    ],
  },
  {
    name: "good canary",
    what: "the same, but it fails 4 %, and at most 5 % may",
    endpoints: [
      steady("a", 1, 400),
      { ...steady("b", 1, 400), spells: [{ fromS: 0, untilS: 1e6, kind: "error", share: 0.04 }] },
    ],
    requestsPerSecond: 30,
    extra: "canary",
    ways: [{ name: "10 %", policy: { canary } }],
  },
  {
    name: "affinity",
    what: "200 sessions; a, with four keys, is out from second 60 to 120 (error)",
    endpoints: [
      { ...out(steady("a", 1, 400), { kind: "error" }), keys: 4 },
      steady("b", 1, 400),
      steady("c", 1, 400),
    ],
    requestsPerSecond: 30,
    sessions: 200,
    ...recovery("a"),
    extra: "affinity",
    ways: [
      { name: "balanced, session", policy: { affinity: "session" } },
      { name: "balanced, none", policy: { affinity: "none" } },
      { name: "price, session", policy: { affinity: "session", sort: "price" } },
      { name: "latency, session", policy: { affinity: "session", sort: "latency" } },
    ],
  },
];

export const TROUBLES: readonly Trouble[] = [
  {
    name: "calm",
    what: "three endpoints, all well; b costs twice as much as a, c is the quickest and dearest",
    endpoints: [steady("a", 1, 400), steady("b", 2, 400), steady("c", 3, 150)],
    requestsPerSecond: 40,
    ways: [BALANCED, PRICE, LATENCY, { name: "weights a 3, b 1", policy: { weights: { a: 3, b: 1 } } }],
  },
  ...failing,
  ...saturated,
  ...slow,
  ...policies,
];
