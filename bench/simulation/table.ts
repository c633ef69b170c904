/** Rows of a simulation as text, one table for each trouble. */
import type { Row } from "./routing.ts";
import { TROUBLES, type Trouble } from "./troubles.ts";

export function tableOf(rows: readonly Row[], troubles: readonly Trouble[] = TROUBLES): string {
  const lines: string[] = [];
  for (const { name, what } of troubles) {
    lines.push(`\n${name}: ${what}`, HEAD);
    for (const row of rows.filter(({ trouble }) => trouble === name)) lines.push(lineOf(row));
  }
  return lines.join("\n");
}

const columns = (way: string, cells: readonly string[], shares: string): string =>
  [`  ${way}`.padEnd(26), ...cells.map((text) => text.padStart(9)), `  ${shares}`].join("");

const HEAD = columns(
  "",
  ["success", "p50 ms", "p99 ms", "p99.9 ms", "sent/ok", "charged", "billed", "recovery"],
  "shares %",
);

function lineOf(row: Row): string {
  const { success, p50Ms, p99Ms, p999Ms, sentPerAnswer, chargedPerAnswer, billedPerAnswer, recoveryS } = row;
  const shares = Object.entries(row.shares).map(([id, share]) => `${id} ${(share * 100).toFixed(0)}`);
  const extra = Object.entries(row.extra).map(([name, value]) => `${name} ${Number(value.toFixed(1))}`);
  return columns(
    row.way,
    [
      `${(success * 100).toFixed(2)} %`,
      p50Ms.toFixed(0),
      p99Ms.toFixed(0),
      p999Ms.toFixed(0),
      sentPerAnswer.toFixed(3),
      chargedPerAnswer.toFixed(1),
      billedPerAnswer.toFixed(1),
      recoveryS === undefined ? "" : Number.isFinite(recoveryS) ? `${recoveryS} s` : "never",
    ],
    [shares.join(" "), ...extra].join("; "),
  );
}
