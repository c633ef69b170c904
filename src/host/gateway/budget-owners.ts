/** Who of an org has a budget: the port of `GET /v1/usage/budgets` and of what needs attention. Reads few rows, however many keys there are. */
import { type KeyRow, keyWorks } from "../../account/key.ts";
import type { OrgRow } from "../../account/org.ts";
import type { ProjectRow } from "../../account/project.ts";
import type { AccountTables } from "../../account/tables.ts";
import type { Clock } from "../../base/clock.ts";
import type { Budget } from "../../credits/budgets/budget.ts";
import type { NearBudgets } from "../../credits/budgets/near-budgets.ts";
import { monthOf } from "../../credits/budgets/periods.ts";
import type { BudgetOwner, BudgetOwners } from "../../credits/limits/budget-list.ts";
import type { House } from "./house.ts";

/** With so many, each is looked at. */
const FEW = 200;
/** So many that are noted are looked at. */
const MOST_NOTED = 500;
/** Rotations of a key within a period that are followed. */
const MOST_ROTATIONS = 100;

interface OwnerPorts {
  readonly accounts: AccountTables;
  readonly clock: Clock;
  readonly near: Pick<NearBudgets, "of">;
}

/** Ports of whatever tells of budgets and credit. */
export const budgetPorts = ({ ground: { clock }, money, people }: House) => {
  const { accounts } = people.account;
  return {
    clock,
    budgets: money.budgets,
    ownersOf: budgetOwners({ accounts, clock, near: money.nearBudgets }),
    isOfTests: (of: "project" | "key", id: string) => accounts[of](id)?.environment === "test",
    async creditOf(orgId: string) {
      await money.book.charged();
      await money.book.fresh([orgId]);
      return money.purse.funds(orgId);
    },
  };
};

const budgetOwners =
  ({ accounts, clock, near }: OwnerPorts) =>
  (orgId: string, day: string): BudgetOwners => {
    const org = accounts.org(orgId);
    if (org === undefined) return { owners: [], isWhole: true };
    const projects = accounts.projectsIfFew(orgId, FEW);
    const keys = accounts.keysIfFew(orgId, FEW, clock.now());
    const nearProjects = () =>
      near
        .of(orgId, "project", monthOf(day), MOST_NOTED)
        .map((id) => accounts.project(id))
        .filter((row) => row?.status === "active");
    const nearKeys = () =>
      near
        .of(orgId, "key", day, MOST_NOTED)
        .map((id) => newestOf(accounts, accounts.key(id)))
        .filter((row) => row !== undefined && keyWorks(row, clock.now()));
    return {
      owners: [
        ...ofOrg(org),
        ...(projects ?? nearProjects()).flatMap((row) => ofProject(org, row)),
        ...ofLineages(accounts, org, keys ?? nearKeys()),
      ],
      isWhole: projects !== undefined && keys !== undefined,
    };
  };

/** The key that has replaced a key, by however many rotations: what was noted is the key of a call, which may have been replaced since. */
function newestOf(accounts: Pick<AccountTables, "key">, row: KeyRow | undefined): KeyRow | undefined {
  let newest = row;
  for (let turns = 0; newest?.replacedBy !== undefined && turns < MOST_ROTATIONS; turns++)
    newest = accounts.key(newest.replacedBy);
  return newest;
}

const budget = (microUsd: number | null | undefined, hard: boolean): Budget | undefined =>
  microUsd === null || microUsd === undefined || microUsd === 0
    ? undefined
    : { limitMicroUsd: microUsd, hard };

function ofOrg({ id, name, budget: given, createdAtMs, timeZone }: OrgRow): BudgetOwner[] {
  const inForce = budget(given?.monthlyMicroUsd, given?.hard ?? false);
  const scope = { orgId: id, projectId: "", keyId: "", timeZone };
  return inForce === undefined
    ? []
    : [{ of: "org", id, name, budget: inForce, createdAtMs, scope, keyIds: [] }];
}

function ofProject({ timeZone }: OrgRow, row: ProjectRow | undefined): BudgetOwner[] {
  const inForce = row && budget(row.budget.monthlyMicroUsd, row.budget.hard);
  if (row === undefined || inForce === undefined) return [];
  const { id, orgId, name, createdAtMs } = row;
  const scope = { orgId, projectId: id, keyId: "", timeZone };
  return [{ of: "project", id, name, budget: inForce, createdAtMs, scope, keyIds: [] }];
}

/** One for each lineage, as its newest key has it. @param keys newest first */
function ofLineages(accounts: AccountTables, { timeZone }: OrgRow, keys: readonly (KeyRow | undefined)[]) {
  const owners = new Map<string, BudgetOwner>();
  for (const key of keys) {
    const inForce = key && budget(key.budget.dailyMicroUsd, key.budget.hard);
    const lineageId = key && accounts.lineageOf(key);
    if (key === undefined || inForce === undefined || lineageId === undefined || owners.has(lineageId))
      continue;
    const { id, orgId, projectId, name, rotatedFrom } = key;
    const before = accounts.key(rotatedFrom ?? "");
    const createdAtMs = Math.min(key.createdAtMs, before?.createdAtMs ?? key.createdAtMs);
    const scope = { orgId, projectId, keyId: id, lineageId, timeZone };
    const keyIds = before === undefined ? [id] : [id, before.id];
    owners.set(lineageId, { of: "key", id, name, budget: inForce, createdAtMs, scope, keyIds });
  }
  return [...owners.values()];
}
