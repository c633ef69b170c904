/** One night's report against what the payment service had on that day, what was parked, and what was planted in our books. */

import type { SimLine } from "../../../simulator/payments/state.ts";
import { DAY_MS } from "../../../src/base/time.ts";
import type { ParkedRow } from "../../../src/billing/parked.ts";
import type {
  Finding,
  MoneyTotal,
  ReconciliationReport,
} from "../../../src/billing/reconciliation/finding.ts";
import { openLedger } from "../../../src/credits/ledger/ledger.ts";
import { must } from "./figures.ts";
import type { Plant } from "./planted-faults.ts";
import type { World } from "./world.ts";

/** What an operator closed while a run went on may be in its report, or not. */
const RUN_MS = 15 * 60_000;

/** @throws Deviation */
export function checkReport(
  world: World,
  report: ReconciliationReport,
  plants: readonly Plant[],
  parked: readonly ParkedRow[],
): void {
  const { day, findings, ranAtMs } = report;
  const fromMs = Date.parse(`${day}T00:00:00+05:30`);
  const lines = world.parts.service.engine.account.linesOf("simulated", fromMs, fromMs + DAY_MS);
  const of = plants.filter(
    (plant) => plant.day === day && plant.atMs < ranAtMs && ranAtMs < (plant.mendedAtMs ?? Infinity),
  );
  const due = of.flatMap((plant) => plant.findings);
  const isDue = (finding: Finding) =>
    due.some(({ kind, ref }) => kind === finding.kind && ref === finding.ref);
  must(report.isComplete, () => `the report of ${day} is not complete`);
  for (const finding of findings) {
    world.parts.figures.add(`reconciliation: ${finding.kind.replaceAll("_", " ")}, ${finding.state}`);
    if (!isDue(finding)) checkFinding(world, report, finding, parked);
  }
  for (const { kind, ref } of due)
    must(
      findings.some((finding) => finding.kind === kind && finding.ref === ref),
      () => `${kind} of ${ref} was planted, and is not in the report of ${day}`,
    );
  const isListed = (ref: string) => findings.some((finding) => finding.ref === ref);
  for (const row of parked) {
    const isOpen = row.closedAtMs === null || row.closedAtMs > ranAtMs;
    const wasThere = row.createdAtMs < fromMs + DAY_MS;
    must(
      !isOpen || !wasThere || isListed(row.ref),
      () => `${row.ref}, ${row.reason}, is parked, and not in the report of ${day}`,
    );
  }
  for (const line of lines) checkLine(world, report, line, parked);
  checkTotals(report, lines);
}

/** What nobody planted in our books was planted at the payment service, or is parked. */
function checkFinding(
  world: World,
  { day, ranAtMs }: ReconciliationReport,
  finding: Finding,
  parked: readonly ParkedRow[],
): void {
  const { state } = world.parts.service.engine;
  const what = () =>
    `${finding.kind}, ${finding.state}, of ${finding.ref} in the report of ${day}: ${finding.detail}`;
  const { ref } = finding;
  if (finding.state === "parked") {
    const rows = parked.filter((row) => row.ref === ref);
    must(
      rows.some(({ closedAtMs }) => closedAtMs === null || closedAtMs > ranAtMs - RUN_MS),
      () => `not parked: ${what()}`,
    );
    return;
  }
  must(finding.state === "healed", () => `nobody planted ${what()}`);
  const toldAtMs = world.parts.service.toldAt(ref);
  // A webhook that was taken is followed within minutes, while both sides are there.
  const wasTold = toldAtMs !== undefined && toldAtMs < ranAtMs - RUN_MS && world.upSinceMs < ranAtMs - RUN_MS;
  if (wasTold) world.parts.figures.add("reconciliation: healed, though a webhook had come");
  const isThere = {
    paid_not_credited: () => state.get("payments", ref)?.state === "paid",
    amount_differs: () =>
      state.get("payments", ref)?.state === "paid" || state.get("refunds", ref) !== undefined,
    refund_unknown: () => state.get("refunds", ref) !== undefined,
    dispute_unknown: () => state.get("disputes", ref) !== undefined,
  } as Partial<Record<Finding["kind"], () => boolean>>;
  must(isThere[finding.kind]?.() === true, () => `nobody planted ${what()}`);
}

/** What the payment service did is in our books once the day was compared, or parked. */
function checkLine(
  world: World,
  { day, ranAtMs }: ReconciliationReport,
  line: SimLine,
  parked: readonly ParkedRow[],
): void {
  const { process, parts } = world;
  if (process === undefined) return;
  const { rooms, store } = process;
  const isParked = (ref: string) => parked.some((row) => row.ref === ref && row.createdAtMs <= ranAtMs);
  const topup = rooms.topups.ofPayment("simulated", line.paymentId);
  const what = () => `${line.kind} ${line.ref} of ${day}`;
  if (line.kind === "payment") {
    const entry = topup && openLedger(store).byReference(topup.orgId, "topup", topup.id);
    const isCredited = entry !== undefined && entry.createdAtMs <= ranAtMs;
    must(
      isCredited || isParked(line.ref),
      () => `${what()} is neither credited nor parked after the comparison`,
    );
    return;
  }
  if (topup === undefined) return;
  if (line.kind === "dispute") {
    const row = rooms.disputes.get(topup.id, line.ref);
    must(row !== undefined, () => `${what()} is not known after the comparison`);
    return;
  }
  const made = parts.service.engine.state.get("refunds", line.ref);
  const ours = rooms.refunds.ofRef("simulated", line.ref) ?? rooms.refunds.find(line.reference);
  must(
    made?.state !== "refunded" ||
      ours?.status === "refunded" ||
      isParked(line.ref) ||
      parts.service.changedAt(line.ref) > ranAtMs,
    () => `${what()} is ${ours?.status ?? "not known"} here after the comparison`,
  );
}

/** Money of the day by our own sums. */
function checkTotals({ day, totals }: ReconciliationReport, lines: readonly SimLine[]): void {
  for (const [name, kind] of [
    ["gateway_payments", "payment"],
    ["gateway_refunds", "refund"],
  ] as const) {
    const due = new Map<string, { count: number; minor: number }>();
    for (const line of lines.filter((one) => one.kind === kind)) {
      const sum = due.get(line.currency) ?? { count: 0, minor: 0 };
      due.set(line.currency, { count: sum.count + 1, minor: sum.minor + Math.abs(line.amount) });
    }
    const said = (totals[name] as readonly MoneyTotal[]).map(
      ({ currency, count, minor }) => `${currency} ${count} ${minor}`,
    );
    const ours = [...due]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([currency, { count, minor }]) => `${currency} ${count} ${minor}`);
    must(said.join() === ours.join(), () => `${name} of ${day} are ${said}, the service has ${ours}`);
  }
}
