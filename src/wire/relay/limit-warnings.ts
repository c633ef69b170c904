/** How what is lowered beside an output limit is named to clients. */
import { pointerTo } from "../../base/document/document.ts";
import type { Endpoint } from "../../base/endpoint.ts";
import type { ClientRequest, FormatName } from "../format.ts";
import { utf8Of } from "../json/json.ts";
import { numbersIn, optionBudgets, optionsText, type Path } from "./budgets.ts";
import { bodyChanges, optionChanges, type Told } from "./lowered.ts";
import { membersIn } from "./option-objects.ts";
import { optionsPointer } from "./provider-options.ts";
import { shortPointer } from "./short-pointer.ts";

/** Members of each format's body that hold its limit, that of today's clients first. */
const LIMIT_PATHS: Readonly<Partial<Record<FormatName, readonly Path[]>>> = {
  chat: [["max_completion_tokens"], ["max_tokens"]],
  completions: [["max_tokens"]],
  responses: [["max_output_tokens"]],
  messages: [["max_tokens"]],
  generate: [["generation", "max_tokens"]],
};

/**
 * JSON pointer to the member that holds the request's limit, the largest if there are several; that which would hold it, where the request
 * states none.
 * @returns undefined where answers of the format have no limit
 */
export function limitPointer(format: FormatName, request: ClientRequest): string | undefined {
  const paths = LIMIT_PATHS[format] ?? [];
  const stated = numbersIn(request, paths).toSorted((a, b) => b.tokens - a.tokens);
  const path = stated[0]?.path ?? paths[0];
  return path && pointerTo(path);
}

/** How a request goes to the endpoint that is told something else. */
export interface Way {
  readonly format: FormatName;
  readonly isSplice: boolean;
  /** The limit is named elsewhere (`hold_fitted`). */
  readonly isFitted: boolean;
  /** Pointers to members that are left out. */
  readonly dropped: readonly string[];
}

/** A client may write one name in many spellings. */
const MOST_NAMED = 20;

/** Warnings that name what an endpoint is told in another way. @param request as the client sent it */
export function limitWarnings(
  request: ClientRequest,
  endpoint: Endpoint,
  told: Told,
  { format, isSplice, isFitted, dropped }: Way,
): readonly string[] {
  const { outputLimit } = told;
  const limits = isFitted ? [] : numbersIn(request, LIMIT_PATHS[format] ?? []);
  const above = limits.filter(({ tokens }) => tokens > outputLimit);
  const body = bodyChanges(request, endpoint, told);
  const options = optionsText(request, endpoint);
  const isReplaced = options === "" ? () => false : replacing(options, endpoint, isSplice);
  const own = [
    ...above.map((stated) => ({ stated, tokens: outputLimit })),
    ...body.lowered.filter(({ stated: { path } }) => !isReplaced(path)),
  ].map(({ stated: { path }, tokens }) => ({ at: pointerTo(path), tokens }));
  const kept = own.filter(
    ({ at }) => !dropped.some((pointer) => at === pointer || at.startsWith(`${pointer}/`)),
  );
  const warnings = kept.map(({ at, tokens }) => `lowered: ${shortPointer(at)} to ${tokens}`);
  if (options === "") return warnings;
  const all = [...warnings, ...optionWarnings(request, endpoint, told, options)];
  return all.length <= MOST_NAMED
    ? all
    : [...all.slice(0, MOST_NAMED), `lowered: ${all.length - MOST_NAMED} more`];
}

function optionWarnings(request: ClientRequest, endpoint: Endpoint, told: Told, options: string): string[] {
  const at = optionsPointer(request.svc, endpoint.provider.id);
  const { lowered, gone } = optionChanges(options, endpoint, told);
  return [
    ...lowered.map(
      ({ stated, tokens }) => `lowered: ${shortPointer(at + pointerTo(stated.path))} to ${tokens}`,
    ),
    ...gone.map((path) => `dropped: ${shortPointer(at + pointerTo(path))}`),
  ];
}

/**
 * Whether options take the place of a member of the body: one of the same name in a body that passes as bytes. A translated body has it by
 * another name: there any budget of the options is taken for the body's.
 */
function replacing(options: string, endpoint: Endpoint, isSplice: boolean): (path: Path) => boolean {
  if (isSplice) {
    const names = (membersIn(utf8Of(options)) ?? []).map(([name]) => name);
    return ([first]) => names.includes(first);
  }
  const hasBudget = optionBudgets(options, endpoint).length > 0;
  return () => hasBudget;
}
