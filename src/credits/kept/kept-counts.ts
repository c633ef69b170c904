/** Sums of what one process kept of an org's calls. They only grow, added and freed apart, so that cells can tell each other of them. */

const KINDS = ["responses", "answers", "payloads"] as const;
export type KeptKind = (typeof KINDS)[number];

/** Bytes by kind. */
export type KeptFigures = Readonly<Record<KeptKind, number>>;

/** A row: bytes added and freed of each kind, in the order of {@link KINDS}. */
export type KeptCounts = readonly number[];

export const NO_COUNTS: KeptCounts = Object.freeze([0, 0, 0, 0, 0, 0]);
export const NOTHING_KEPT: KeptFigures = Object.freeze({ responses: 0, answers: 0, payloads: 0 });

/** Bytes added, or freed where they are negative. */
export interface KeptChange {
  readonly kind: KeptKind;
  readonly bytes: number;
}

export function withChange(counts: KeptCounts | undefined, { kind, bytes }: KeptChange): KeptCounts {
  const changed = [...(counts ?? NO_COUNTS)];
  const at = 2 * KINDS.indexOf(kind) + (bytes < 0 ? 1 : 0);
  changed[at] = (changed[at] ?? 0) + Math.abs(bytes);
  return changed;
}

/** Never negative: a folder that an earlier release used meanwhile may have freed what was not counted. */
const left = (counts: KeptCounts, at: number): number =>
  Math.max(0, (counts[at] ?? 0) - (counts[at + 1] ?? 0));

export const responsesIn = (counts: KeptCounts): number => left(counts, 0);
export const answersIn = (counts: KeptCounts): number => left(counts, 2);
export const payloadsIn = (counts: KeptCounts): number => left(counts, 4);
