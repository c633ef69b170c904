/** What differs between two texts, line by line: the fewest lines removed and added (Myers). Pure. */

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
  /** Numbers in the old text and the new one, from 1; undefined where it is not in it. */
  readonly old?: number;
  readonly new?: number;
}

/** Changed lines beyond which the middle is shown as replaced: what is found then would be read by no one. */
const MOST_CHANGES = 800;

/** A line break at the end begins no line. */
export const linesOf = (text: string): readonly string[] => {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let first = 0;
  while (first < a.length && first < b.length && a[first] === b[first]) first++;
  let last = 0;
  while (last < a.length - first && last < b.length - first && a.at(-1 - last) === b.at(-1 - last)) last++;
  const keeps = middle(a.slice(first, a.length - last), b.slice(first, b.length - last));
  const kinds = [...Array(first).fill("same"), ...keeps, ...Array(last).fill("same")] as DiffLine["kind"][];
  let [atOld, atNew] = [0, 0];
  return kinds.map((kind) => {
    if (kind === "removed") return { kind, text: a[atOld++] ?? "", old: atOld };
    if (kind === "added") return { kind, text: b[atNew++] ?? "", new: atNew };
    return { kind, text: a[atOld++] ?? "", old: atOld, new: ++atNew };
  });
}

/** Removed lines stand before those that were added in their place. */
function middle(a: readonly string[], b: readonly string[]): DiffLine["kind"][] {
  const trace = shortest(a, b);
  if (trace === undefined) return [...Array(a.length).fill("removed"), ...Array(b.length).fill("added")];
  const kinds: DiffLine["kind"][] = [];
  let [x, y] = [a.length, b.length];
  for (let depth = trace.length - 1; depth >= 0; depth--) {
    const ends = trace[depth] as Ends;
    const diagonal = x - y;
    const isDown = goesDown(ends, diagonal, depth);
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const startX = depth === 0 ? 0 : (ends.get(from) ?? 0);
    const startY = depth === 0 ? 0 : startX - from;
    while (x > startX && y > startY) {
      kinds.push("same");
      x--;
      y--;
    }
    if (depth === 0) break;
    if (isDown) {
      kinds.push("added");
      y--;
    } else {
      kinds.push("removed");
      x--;
    }
  }
  return removedFirst(kinds.reverse());
}

/** Where lines differ, those that are gone stand before those that came. */
function removedFirst(kinds: readonly DiffLine["kind"][]): DiffLine["kind"][] {
  const sorted: DiffLine["kind"][] = [];
  let run: DiffLine["kind"][] = [];
  for (const kind of [...kinds, "same" as const]) {
    if (kind !== "same") run.push(kind);
    else {
      sorted.push(
        ...run.filter((each) => each === "removed"),
        ...run.filter((each) => each === "added"),
        kind,
      );
      run = [];
    }
  }
  return sorted.slice(0, -1);
}

/** By diagonal (old minus new), how far in the old text so many changes reach. */
type Ends = Map<number, number>;

const goesDown = (ends: Ends, diagonal: number, depth: number): boolean =>
  diagonal === -depth ||
  (diagonal !== depth && (ends.get(diagonal - 1) ?? -1) < (ends.get(diagonal + 1) ?? -1));

/** For each number of changes how far those before it reached; undefined where they are too many. */
function shortest(a: readonly string[], b: readonly string[]): Ends[] | undefined {
  const trace: Ends[] = [];
  let ends: Ends = new Map([[1, 0]]);
  const most = Math.min(a.length + b.length, MOST_CHANGES);
  for (let depth = 0; depth <= most; depth++) {
    trace.push(ends);
    const next: Ends = new Map();
    for (let diagonal = -depth; diagonal <= depth; diagonal += 2) {
      const isDown = goesDown(ends, diagonal, depth);
      let x = isDown ? (ends.get(diagonal + 1) ?? 0) : (ends.get(diagonal - 1) ?? 0) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return trace;
    }
    ends = next;
  }
  return undefined;
}

/** Lines of a difference, and in the place of long runs that are the same how many they are. */
export type DiffPiece = { readonly lines: readonly DiffLine[] } | { readonly hidden: readonly DiffLine[] };

/** @param context lines that are the same, shown around what differs */
export function folded(lines: readonly DiffLine[], context: number): readonly DiffPiece[] {
  const isNear = nearChanges(lines, context);
  const pieces: { kind: "lines" | "hidden"; lines: DiffLine[] }[] = [];
  lines.forEach((line, at) => {
    const kind = isNear[at] === true ? "lines" : "hidden";
    const last = pieces.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else pieces.push({ kind, lines: [line] });
  });
  // To hide one line saves none.
  return pieces.map(({ kind, lines: own }) =>
    kind === "lines" || own.length === 1 ? { lines: own } : { hidden: own },
  );
}

function nearChanges(lines: readonly DiffLine[], context: number): readonly boolean[] {
  const near = lines.map(() => false);
  lines.forEach(({ kind }, at) => {
    if (kind === "same") return;
    near.fill(true, Math.max(0, at - context), at + context + 1);
  });
  return near;
}
