/**
 * What is noted of budgets near their end, and told of those that are used up: with the charge that makes it so, once, whichever append
 * to the journal the process dies at.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { tempFolder } from "../../../support/credits/fixtures.ts";
import { killAtAppend } from "../../../support/store/kill-at-append.ts";
import { CHARGES, LIMITS, type NotesWorld, openNotes } from "./notes.world.ts";

const CHARGER = fileURLToPath(new URL("notes.charger.ts", import.meta.url));
/** The grant's and those of the charges. */
const APPENDS = CHARGES.length + 1;
const MOMENTS = ["before", "torn", "behind"].flatMap((how) =>
  Array.from({ length: APPENDS }, (_, at) => `${at + 1} ${how}`),
);

/** @param moment of its death @returns the number of charges that it told of */
async function chargeUntilKilled(folder: string, moment: string): Promise<number> {
  const kill = killAtAppend(moment);
  const NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} ${kill.NODE_OPTIONS}`;
  const child = spawn(process.execPath, [CHARGER, folder], {
    env: { ...process.env, ...kill, NODE_OPTIONS },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  let errors = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const [code, signal] = await once(child, "close");
  expect([code, signal, errors]).toEqual([null, "SIGKILL", ""]);
  return said.split("\n").length - 1;
}

/** What the charges that are in the store must have left; keys of the newest lineage first. */
function expected(world: NotesWorld): ReturnType<NotesWorld["told"]> {
  const lineages = [...new Set(CHARGES.map(({ lineageId }) => lineageId))].reverse();
  const usedUp = lineages.filter((id) => world.spent(id) > LIMITS.key);
  return {
    keys: lineages.filter((id) => world.spent(id) >= LIMITS.key / 2),
    projects: world.spentOfProject() >= LIMITS.project / 2 ? ["prj_1"] : [],
    usedUp: usedUp.map((id) => `budget.exceeded key_daily ${id}`),
  };
}

test.concurrent.for(MOMENTS)(
  "a death at append %s loses no note and tells nothing twice",
  async (moment, { onTestFinished }) => {
    const folder = tempFolder();
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const answered = await chargeUntilKilled(folder, moment);
    const world = openNotes(folder);
    onTestFinished(() => world.close());
    expect(world.made()).toBeGreaterThanOrEqual(answered);
    expect(world.told()).toEqual(expected(world));
    while (world.made() < CHARGES.length) await world.charge();
    expect(world.told()).toEqual(expected(world));
    expect(world.told()).toEqual({
      keys: ["key_2", "key_1"],
      projects: ["prj_1"],
      usedUp: ["budget.exceeded key_daily key_1"],
    });
  },
);
