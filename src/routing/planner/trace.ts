/**
 * A plan in one line, as the header `x-svc-route-trace` and records have it. This file alone knows the form, and reads what it writes:
 * so a record needs no second copy of the plan.
 *
 * Names that people chose may hold anything. Those of the head are in the record too, and compared whole; in reasons they have no
 * brackets (`withoutBrackets` of eligibility.ts), which end a reason.
 */
import { SORTS, type Sort } from "../../base/route.ts";
import type { Decision } from "./decision.ts";
import { EXCLUSION_KINDS, type Exclusion } from "./eligibility.ts";

/** What was drawn of a decision. Each is empty where nothing was. */
interface Drawn {
  readonly canary: string;
  readonly arm: string;
  /** Endpoint id. */
  readonly shadow: string;
}

const NONE = "none";
const TRY = "; try: ";
const OUT = "; out: ";

/** By which policy and rule, in which order, and what was drawn. */
export function headText(
  { policy, rule, sort, experiment }: Pick<Decision, "policy" | "rule" | "sort" | "experiment">,
  { canary, arm, shadow }: Drawn,
): string {
  const by = byText(policy?.name ?? "", policy?.version ?? 0, rule);
  return `${by}${SORT}${sort}${canaryText(canary)}${armText(experiment?.name ?? "", arm)}${shadowText(shadow)}`;
}

const SORT = "sort=";
const byText = (policy: string, version: number, rule: string): string =>
  policy === "" ? "" : `policy=${policy}@${version}${rule && ` rule=${rule}`}; `;
const canaryText = (canary: string): string => canary && ` canary=${canary}`;
const armText = (experiment: string, arm: string): string => arm && ` experiment=${experiment} arm=${arm}`;
const SHADOW = " shadow=";
const shadowText = (shadow: string): string => shadow && `${SHADOW}${shadow}`;

/** An endpoint that is tried. @param order from 1 on */
export const triedText = (order: number, endpointId: string, reason: string): string =>
  `${order === 1 ? "" : ", "}${order} ${endpointId} (${reason})`;

export const excludedText = (isFirst: boolean, { endpointId, kind, reason }: Exclusion): string =>
  `${isFirst ? "" : ", "}${endpointId} (${kind}: ${reason})`;

/** @param tried each by `triedText` @param excluded each by `excludedText` */
export const traceText = (head: string, tried: string, excluded: string): string =>
  `${head}${TRY}${tried || NONE}${OUT}${excluded || NONE}`;

/** What a record says of the plan beside its line. Each is empty, or 0, where there was none. */
export interface RecordedNames {
  readonly policy: string;
  readonly policyVersion: number;
  readonly rule: string;
  readonly canary: string;
  readonly experiment: string;
  readonly arm: string;
}

export interface ReadTrace {
  readonly sort: Sort;
  /** Endpoint id; empty: none. */
  readonly shadow: string;
  /** In the order to try. */
  readonly tried: readonly { readonly endpointId: string; readonly reason: string }[];
  readonly excluded: readonly Exclusion[];
}

/** The plan that a line tells of; undefined where the line is none that this release writes. Never throws. */
export function readTrace(line: string, recorded: RecordedNames): ReadTrace | undefined {
  const by = byText(recorded.policy, recorded.policyVersion, recorded.rule);
  if (!line.startsWith(`${by}${SORT}`)) return undefined;
  const behindSort = line.slice(by.length + SORT.length);
  const sort = SORTS.find((one) => behindSort.startsWith(`${one}`));
  if (sort === undefined) return undefined;
  const draws = `${canaryText(recorded.canary)}${armText(recorded.experiment, recorded.arm)}`;
  if (!behindSort.startsWith(draws, sort.length)) return undefined;
  const rest = REST.exec(behindSort.slice(sort.length + draws.length));
  if (rest === null) return undefined;
  const [, shadow = "", tried = "", out = ""] = rest;
  const attempts = triedIn(tried);
  const excluded = excludedIn(out);
  return attempts && excluded && { sort, shadow, tried: attempts, excluded };
}

/** What is tried ends with a bracket, so that no reason ends it. */
const REST = /^(?: shadow=(\S+))?; try: (none|.*?\)); out: (none|.*\))$/s;

/** Ids of endpoints have neither spaces nor brackets. */
const ID = "[^\\s()]+";
const TRIED = new RegExp(`^(\\d+) (${ID}) \\((.*)\\)$`, "s");
const EXCLUDED = new RegExp(`^(${ID}) \\((${EXCLUSION_KINDS.join("|")}): (.*)\\)$`, "s");
const BETWEEN_TRIED = new RegExp(`(?<=\\)), (?=\\d+ ${ID} \\()`);
const BETWEEN_EXCLUDED = new RegExp(`(?<=\\)), (?=${ID} \\((?:${EXCLUSION_KINDS.join("|")}): )`);

function triedIn(text: string): ReadTrace["tried"] | undefined {
  if (text === NONE) return [];
  const found = text.split(BETWEEN_TRIED).map((one) => TRIED.exec(one));
  const isInOrder = found.every((one, at) => one?.[1] === String(at + 1));
  if (!isInOrder) return undefined;
  return found.map((one) => ({ endpointId: one?.[2] ?? "", reason: one?.[3] ?? "" }));
}

function excludedIn(text: string): readonly Exclusion[] | undefined {
  if (text === NONE) return [];
  const found = text.split(BETWEEN_EXCLUDED).map((one) => EXCLUDED.exec(one));
  if (found.includes(null)) return undefined;
  return found.flatMap((one) => {
    const kind = EXCLUSION_KINDS.find((known) => known === one?.[2]);
    return kind === undefined ? [] : [{ endpointId: one?.[1] ?? "", kind, reason: one?.[3] ?? "" }];
  });
}
