/**
 * Names of a MergeTree table's parts: `<partition>_<first block>_<last block>_<level>`, and `_<mutation>` where one made it (ClickHouse,
 * `MergeTreePartInfo`). Pure.
 */

const PART = /^(?!tmp_|delete_tmp_)(.+?)_(\d+)_(\d+)_\d+(?:_\d+)?$/;

/** The parts among the entries of a table's folder; parts that are being made or removed are none. */
export const partNames = (entries: readonly string[]): string[] => entries.filter((name) => PART.test(name));

/** @returns whether a part is among these, or one of them has all of its blocks: it was merged or changed */
export function coveredBy(parts: readonly string[]): (part: string) => boolean {
  const names = new Set(parts);
  const byPartition = Map.groupBy(parts.map(blocksOf), ({ partition }) => partition);
  return (part) => {
    if (names.has(part)) return true;
    const { partition, first, last } = blocksOf(part);
    const others = byPartition.get(partition) ?? [];
    return others.some((other) => other.first <= first && other.last >= last);
  };
}

function blocksOf(part: string) {
  const [, partition = "", first, last] = PART.exec(part) ?? [];
  return { partition, first: Number(first), last: Number(last) };
}
