/** The cap where credit and budgets are asked for elsewhere, and answer later: whatever happens meanwhile. */
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { seededRandom } from "../../../src/base/clock.ts";
import { LocalBudgets } from "../../../src/credits/budgets/budgets.ts";
import { LocalPurse } from "../../../src/credits/ledger/purse.ts";
import { capCases } from "./cap.cases.ts";

afterAll(() => vi.restoreAllMocks());

const random = seededRandom(11);
/** Answers that came later. */
let late = 0;

/** The method decides some turns of the event loop later, by what is true then. */
function decidesLater(prototype: object, name: string): void {
  const methods = prototype as Record<string, (...args: unknown[]) => unknown>;
  const decide = methods[name] as (...args: unknown[]) => unknown;
  vi.spyOn(methods, name).mockImplementation(async function (this: unknown, ...args) {
    for (let turns = Math.ceil(random() * 4); turns > 0; turns--) await turn();
    late++;
    return decide.apply(this, args);
  });
}

capCases(() => {
  for (const name of ["hold", "extend"]) {
    decidesLater(LocalPurse.prototype, name);
    decidesLater(LocalBudgets.prototype, name);
  }
});

test("they did answer later", () => expect(late).toBeGreaterThan(500));
