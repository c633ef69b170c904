/** What a schedule is about: how many cells, what they serve, and how bad things get. All of it follows from the seed. */
import type { BudgetScope } from "../../../src/credits/budgets/budget.ts";
import type { KeyLimits } from "../../../src/credits/limits/limits.ts";
import type { Dice } from "../billing/dice.ts";

export interface SimKey {
  readonly keyId: string;
  readonly orgId: string;
  readonly limits: KeyLimits;
  readonly scope: BudgetScope;
}

export interface SimOrg {
  readonly orgId: string;
  /** Disputes may take more than is there: its balance may fall below zero. */
  readonly isOverdrawn: boolean;
}

export const TROUBLES = {
  pause: 3,
  kill: 3,
  cut: 3,
  cutAll: 1,
  stall: 2,
  slow: 1,
  fullDisk: 1,
  jump: 1,
  redisRestart: 1.5,
  redisSlip: 0.3,
  redisJump: 0.7,
  redisDrift: 0,
  allJump: 0.7,
  jumpInTurn: 0.5,
  copy: 0.7,
  failOver: 0,
  retire: 0,
};
export type Trouble = keyof typeof TROUBLES;

export interface Plan {
  readonly cells: readonly string[];
  readonly orgs: readonly SimOrg[];
  readonly keys: readonly SimKey[];
  /** A key of which many calls come at once, and whose limits are so large that cells lease parts of them ahead. */
  readonly crowded: Pick<SimKey, "keyId" | "limits">;
  /** When it begins, milliseconds since 1970. */
  readonly beginMs: number;
  /** A day, and a month, end while it runs. */
  readonly isAtMidnight: boolean;
  /** How long calls and acts come. */
  readonly activeMs: number;
  readonly callEveryMs: number;
  readonly actEveryMs: number;
  readonly troubleEveryMs: number;
  readonly troubles: Readonly<Record<Trouble, number>>;
  /** Replicas of Redis that must have a change. */
  readonly replicas: number;
  readonly pageRows: number;
  readonly streamEntries: number;
  readonly accounts: number;
}

const MIDNIGHT_MS = Date.UTC(2026, 5, 1);

export function planOf(dice: Dice): Plan {
  const isLong = dice.chance(0.04);
  const replicas = dice.chance(0.35) ? 1 : 0;
  const orgs = ["org_a", "org_b"].map((orgId, at) => ({ orgId, isOverdrawn: at === 1 }));
  const isAtMidnight = dice.chance(0.1);
  const beginMs =
    MIDNIGHT_MS + (isAtMidnight ? -dice.integer(500, 3000) : dice.integer(3_600_000, 20 * 3_600_000));
  return {
    orgs,
    replicas,
    beginMs,
    isAtMidnight,
    cells: ["a", "b", "c", "d"].slice(0, dice.integer(2, 3) + (dice.chance(0.2) ? 1 : 0)),
    keys: orgs.flatMap(({ orgId }) => [1, 2].map((at) => keyOf(dice, orgId, `key_${orgId}_${at}`))),
    crowded: { keyId: "key_crowded", limits: crowdedLimits(dice) },
    activeMs: isLong ? dice.integer(40_000, 90_000) : dice.integer(500, 2500),
    callEveryMs: isLong ? 400 : dice.integer(10, 100),
    actEveryMs: isLong ? 2000 : dice.integer(30, 300),
    troubleEveryMs: isLong ? 8000 : dice.integer(100, 1500),
    troubles: { ...TROUBLES, failOver: replicas * 4, retire: isLong ? 4 : 0, redisDrift: isLong ? 1 : 0 },
    pageRows: dice.integer(2, 40),
    streamEntries: dice.chance(0.5) ? dice.integer(3, 40) : 10_000,
    accounts: dice.integer(2, 8),
  };
}

const crowdedLimits = (dice: Dice): KeyLimits => ({
  rpm: dice.integer(1000, 1500),
  tpm: dice.chance(0.5) ? dice.integer(3000, 10_000) : 0,
  concurrency: dice.chance(0.5) ? 1000 : 0,
});

function keyOf(dice: Dice, orgId: string, keyId: string): SimKey {
  const budget = (share: number, least: number, most: number) =>
    dice.chance(share) ? { limitMicroUsd: dice.integer(least, most), hard: dice.chance(0.8) } : undefined;
  return {
    orgId,
    keyId,
    limits: {
      rpm: dice.chance(0.5) ? dice.integer(3, 60) : 0,
      tpm: dice.chance(0.3) ? dice.integer(1000, 20_000) : 0,
      concurrency: dice.chance(0.5) ? dice.integer(1, 5) : 0,
    },
    scope: {
      keyId,
      orgId,
      projectId: `project_${orgId}`,
      timeZone: "UTC",
      keyDaily: budget(0.4, 2000, 60_000),
      projectMonthly: PROJECTS.get(orgId),
      orgMonthly: undefined,
    },
  };
}

/** The same for all keys of a project. */
const PROJECTS = new Map([["org_b", { limitMicroUsd: 120_000, hard: true }]]);
