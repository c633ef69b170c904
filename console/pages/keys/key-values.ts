/**
 * What a form says about a key, and what the API is asked by it: everything of a new key, and of one that is changed only what differs,
 * for a field that is sent is written. Pure.
 */
import type { Operations } from "../../api/operations.ts";
import { countOf, microOf, microText } from "../../text/amounts.ts";

export type Key = Operations["getKey"]["answer"];
export type Scope = Key["scopes"][number];

/** Texts as typed; an empty one of a limit or a budget: none of the key's own. */
export interface KeyValues {
  readonly name: string;
  readonly projectId: string;
  readonly environment: Key["environment"];
  readonly scopes: readonly Scope[];
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
  /** US dollars a day. */
  readonly budget: string;
  readonly isHard: boolean;
  readonly hold: "" | "full" | "fit";
  readonly onDisconnect: Key["on_disconnect"];
  /** `720h`; `never`; empty: by default, and of a key that there is: as it is. */
  readonly expiresIn: string;
}

const LIMITS = ["rpm", "tpm", "concurrency"] as const;

export const newValues = (project: {
  readonly id: string;
  readonly environment: Key["environment"];
}): KeyValues => ({
  name: "",
  projectId: project.id,
  environment: project.environment,
  scopes: ["inference", "read:usage"],
  rpm: "",
  tpm: "",
  concurrency: "",
  budget: "",
  isHard: true,
  hold: "",
  onDisconnect: "cancel",
  expiresIn: "",
});

export function valuesOf(key: Key): KeyValues {
  const { rpm, tpm, concurrency } = key.limits;
  const text = (limit: number | undefined) => (limit === undefined ? "" : String(limit));
  const hasBudget = key.budget.daily_micro > 0;
  return {
    name: key.name,
    projectId: key.project_id,
    environment: key.environment,
    scopes: key.scopes,
    rpm: text(rpm),
    tpm: text(tpm),
    concurrency: text(concurrency),
    budget: hasBudget ? microText(key.budget.daily_micro) : "",
    isHard: !hasBudget || key.budget.hard,
    hold: key.hold ?? "",
    onDisconnect: key.on_disconnect,
    expiresIn: "",
  };
}

/** What is wrong with each field, before the API is asked. */
export function faultsOf(values: KeyValues): Partial<Record<keyof KeyValues, string>> {
  const faults: Partial<Record<keyof KeyValues, string>> = {};
  if (values.name.trim() === "") faults.name = "Give the key a name.";
  if (values.scopes.length === 0) faults.scopes = "Choose at least one.";
  for (const limit of LIMITS) {
    if (values[limit].trim() !== "" && countOf(values[limit]) === undefined)
      faults[limit] = "A whole number from 1, or nothing.";
  }
  if (values.budget.trim() !== "" && !((microOf(values.budget) ?? 0) > 0))
    faults.budget = "An amount in dollars, such as 5 or 0.50, or nothing.";
  return faults;
}

type Limits = Record<(typeof LIMITS)[number], number | null>;

/** null where the key has none of its own. */
const limitsIn = (values: KeyValues): Limits => ({
  rpm: countOf(values.rpm) ?? null,
  tpm: countOf(values.tpm) ?? null,
  concurrency: countOf(values.concurrency) ?? null,
});

/** null: none. */
const dailyIn = (values: KeyValues): number | null => microOf(values.budget) ?? null;

/** @param values without faults */
export function createBody(values: KeyValues): Operations["createKey"]["body"] {
  const daily = dailyIn(values);
  const limits = Object.fromEntries(Object.entries(limitsIn(values)).filter(([, limit]) => limit !== null));
  return {
    name: values.name.trim(),
    project_id: values.projectId,
    environment: values.environment,
    scopes: values.scopes,
    on_disconnect: values.onDisconnect,
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(daily !== null && { budget: { daily_micro: daily, hard: values.isHard } }),
    ...(values.hold !== "" && { hold: values.hold }),
    ...(values.expiresIn !== "" && { expires_in: values.expiresIn }),
  };
}

/**
 * Only what differs from the key; null clears.
 * @param values without faults
 * @returns undefined where nothing does
 */
export function patchBody(key: Key, values: KeyValues): Operations["updateKey"]["body"] | undefined {
  const old = valuesOf(key);
  const [before, after] = [limitsIn(old), limitsIn(values)];
  const limits = Object.fromEntries(
    LIMITS.filter((limit) => before[limit] !== after[limit]).map((limit) => [limit, after[limit]]),
  );
  const budget = budgetChange(old, values);
  const body = {
    ...(values.name.trim() !== old.name && { name: values.name.trim() }),
    ...(isOther(values.scopes, old.scopes) && { scopes: values.scopes }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(budget !== undefined && { budget }),
    ...(values.onDisconnect !== old.onDisconnect && { on_disconnect: values.onDisconnect }),
    ...(values.hold !== old.hold && { hold: values.hold === "" ? null : values.hold }),
    ...(values.expiresIn !== "" && { expires_in: values.expiresIn === "never" ? null : values.expiresIn }),
  };
  return Object.keys(body).length === 0 ? undefined : body;
}

function budgetChange(old: KeyValues, values: KeyValues) {
  const [before, after] = [dailyIn(old), dailyIn(values)];
  if (after === null) return before === null ? undefined : { daily_micro: null };
  if (before === after && old.isHard === values.isHard) return undefined;
  return { daily_micro: after, hard: values.isHard };
}

const isOther = (now: readonly string[], before: readonly string[]): boolean =>
  [...now].sort().join() !== [...before].sort().join();

/**
 * Whether a person may change, rotate and revoke a key: who does so holds every scope of it, as the API asks.
 * @param held scopes that the person's role holds
 */
export const mayActOn = (held: readonly Scope[], key: Pick<Key, "scopes">): boolean =>
  key.scopes.every((scope) => held.includes(scope));

/** Whether a key still opens anything. */
export const isWorking = ({ status }: Pick<Key, "status">): boolean =>
  status === "active" || status === "rotating";
