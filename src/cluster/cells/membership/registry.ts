/** The cells of an installation, as its dataset knows them. */
import { systemClock } from "../../../base/clock.ts";
import { type Expected, expectedByMachine, MACHINES_MS } from "../clock/shared-clock.ts";
import { DATASET_KEY } from "../redis/keys.ts";
import type { RedisLink } from "../redis/redis.ts";
import { SCRIPTS } from "../scripts/scripts.ts";
import { LONGEST_STALE_MS } from "../settings.ts";
import { SILENT_MS } from "./beats.ts";
import type { CELL_STATES } from "./states.ts";

export interface RegisteredCell {
  readonly cell: string;
  /** Life of its newest process: Redis's time at that start, or one more than before. */
  readonly life: number;
  /** Newest life that was retired; 0: none. */
  readonly retiredLife: number;
  /** The life that has sent what all before it kept; 0: none. */
  readonly sentLife: number;
  readonly status: (typeof CELL_STATES)[number];
  /** Version of the shared rows that it has; undefined where it left. */
  readonly version: number | undefined;
  /** Since it said so. */
  readonly silentMs: number | undefined;
  /** It has not said yet what it knows, so no lease grows. */
  readonly isAwaited: boolean;
  readonly leasedOrgs: number;
  /** Undefined: too many orgs to add up. */
  readonly leasedMicroUsd: number | undefined;
  /** Since it stopped in good order; undefined where it did not, or a release before this one did. */
  readonly leftMs: number | undefined;
  /** It left, and had told of each detached call that can be read once it runs again. */
  readonly hasToldCalls: boolean;
}

export interface Registered {
  /** Version of the shared rows now. */
  readonly version: number;
  readonly cells: readonly RegisteredCell[];
}

/** Some milliseconds of Redis. */
const MOST_ORGS = 1000;
const FIELDS = 11;
/** What the script answers of a cell that may not be retired yet. */
const ALIVE = -1;
/**
 * Leases end at the cell by its own clock, counted from before the request, `cells.stale_ms` after it last heard of Redis. It is not
 * known which setting a silent cell has, so the longest counts; the rest is for what the clocks differ.
 */
export const RETIRE_SILENCE_MS = LONGEST_STALE_MS + 5000;

/**
 * @param mostOrgs of a cell whose leases are added up
 * @throws Error of Redis
 */
export async function registeredCells(
  link: RedisLink,
  id: string,
  mostOrgs = MOST_ORGS,
): Promise<Registered> {
  const [version, fields] = (await link.run(SCRIPTS.cells, DATASET_KEY, id, mostOrgs)) as [
    Buffer,
    (Buffer | number)[],
  ];
  const cells: RegisteredCell[] = [];
  for (let at = 0; at < fields.length; at += FIELDS) {
    const [cell = "", ...texts] = fields.slice(at, at + FIELDS).map(String);
    const [life, retired, applied, silentMs, awaited, orgs, leased, leftMs, sent, toldCalls] = texts.map(
      Number,
    ) as Numbers;
    cells.push({
      cell,
      life,
      retiredLife: retired,
      sentLife: sent,
      status: statusOf(life, retired, silentMs),
      isAwaited: awaited === 1,
      version: known(applied),
      silentMs: known(silentMs),
      leasedOrgs: orgs,
      leasedMicroUsd: known(leased),
      leftMs: known(leftMs),
      hasToldCalls: toldCalls === 1,
    });
  }
  return { version: Number(version), cells: cells.sort((a, b) => (a.cell < b.cell ? -1 : 1)) };
}

type Numbers = [number, number, number, number, number, number, number, number, number, number];

function statusOf(life: number, retired: number, silentMs: number): RegisteredCell["status"] {
  if (life <= retired) return "retired";
  if (silentMs < 0) return "left";
  return silentMs < SILENT_MS ? "alive" : "silent";
}

const known = (number: number): number | undefined => (number < 0 ? undefined : number);

/**
 * Ends a cell for ever, so that what it leased can be spent by others.
 * @param expected of Redis's clock. Default: what this machine's clock says; then a longer silence is asked for where no cell goes by that clock
 * @returns false where there is no such cell; "alive" where it gave a sign of life within `silentMs`. @throws Error of Redis, or where its
 * clock is not as expected: by one that was set ahead each cell would have been silent
 */
export async function retire(
  link: RedisLink,
  id: string,
  cell: string,
  silentMs = RETIRE_SILENCE_MS,
  expected?: Expected,
): Promise<boolean | "alive"> {
  const [least, most] = expected ?? expectedByMachine(systemClock);
  const args = [id, cell, silentMs, least, most, expected === undefined ? MACHINES_MS : 0] as const;
  const answer = await link.run(SCRIPTS.retire, DATASET_KEY, ...args);
  return answer === ALIVE ? "alive" : answer === 1;
}
