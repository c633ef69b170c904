/**
 * Reads a client's JSON body of any format as far as the gateway must understand it: the positions of its members, its
 * schema, our `svc` extension. Long strings are not decoded.
 */
import { isUtf8 } from "node:buffer";
import { z } from "zod";
import { pointerTo } from "../base/document/document.ts";
import { fail, type WeirError } from "../base/errors.ts";
import { routeOptions } from "../base/route-schema.ts";
import { extrasOf } from "./extras/scan.ts";
import type { Table } from "./extras/tables.ts";
import type { ClientRequest, PromptText } from "./format.ts";
import { jsonAt, type Member, memberOf, skim, utf8Of } from "./json/json.ts";
import { REQUEST_BOUNDS } from "./json/json-bounds.ts";
import { isNoImage } from "./media/uncounted.ts";
import { NO_EXTRAS } from "./neutral/asked-extras.ts";
import { LARGE_BODY_BYTES, NO_OPTIONS, type SvcOptions } from "./neutral/contract.ts";
import type { JsonObject } from "./neutral/reader.ts";
import { MAX_MODEL_NAME, refuseLargeMembers, refuseLongLists } from "./neutral/request-bounds.ts";
import type { SvcBody } from "./svc-schema.ts";

/** Members of every format's body. */
export interface AnyBody {
  readonly model: string;
  readonly stream?: boolean | null | undefined;
}

export interface BodyRules<T extends AnyBody> {
  readonly schema: z.ZodType<T>;
  /** True only if the schema accepts the value unchanged. Called first, because it costs less. */
  isUsual?(value: unknown): value is T;
  /** Our extension in the body. */
  svcOf(value: T): SvcBody | undefined;
  /** The members that contain it: decoded fully, as `model` is. */
  readonly ours: readonly string[];
  /** Members that no model reads. All others count as prompt, unknown ones included. */
  readonly noPrompt: readonly string[];
  /** Rows of the dialect that equals the format: what in its bodies changes a provider's bill. Absent: bodies are only translated. */
  readonly extras?: Table;
  /** Members in which base64 and data URLs are media. In any other member they are prose to a model. */
  readonly media: readonly string[];
}

export interface ReadBody<T> {
  /** What each format's request begins with: copied as a whole, which costs less than leaving members out. */
  readonly read: Omit<ClientRequest, "facts">;
  /** latin1: one character a byte. */
  readonly text: string;
  /** Checked; strings but `model` and those of `svc` are latin1, and long ones are empty. */
  readonly value: T;
  /** Some of the media are no image by their label or first bytes, whatever part they are in. */
  readonly hasNoImage: boolean;
  /** Bytes of the prompt, without media. */
  readonly proseBytes: number;
}

/** @throws WeirError 400 with a JSON pointer to the field at fault. */
export function readBody<T extends AnyBody>(bytes: Buffer, rules: BodyRules<T>): ReadBody<T> {
  if (!isUtf8(bytes)) throw fail("invalid_json", "The body is not valid UTF-8.");
  const text = bytes.toString("latin1");
  const { members, elided, media, skeleton } = skim(text, "", REQUEST_BOUNDS, bytes);
  refuseLargeMembers(text, members, rules.ours, rules.noPrompt);
  const body = inUtf8(parse(skeleton, skeleton === text), bytes, members, rules.ours);
  const value = check(body, members, rules);
  let proseBytes = 0;
  let opaqueBytes = 0;
  for (const { key, valueStart, valueEnd, opaqueBytes: opaque } of members) {
    if (rules.noPrompt.includes(key)) continue;
    proseBytes += valueEnd - valueStart;
    if (rules.media.includes(key)) opaqueBytes += opaque;
  }
  const extension = rules.svcOf(value);
  const svc = extension === undefined ? NO_OPTIONS : readSvc(extension, text, members, rules.ours);
  const { providerOptions: optionTexts } = svc;
  if (svc.holdWaitMs > 0 && value.stream !== true) throw waitsUnstreamed(rules.ours);
  let optionBytes = 0;
  // A provider may read its own options as prompt.
  for (const name in optionTexts) optionBytes += Buffer.byteLength(optionTexts[name] as string);
  const hasOpaque = opaqueBytes > 0;
  const { extras: table } = rules;
  const extras =
    table === undefined ? NO_EXTRAS : extrasOf(table, value as unknown as JsonObject, body, members, text);
  return {
    read: { bytes, members, elided, hasOpaque, svc, extras },
    text,
    value,
    proseBytes: proseBytes - opaqueBytes + optionBytes,
    hasNoImage: media.length > 0 && media.some((at) => isNoImage(text, at)),
  };
}

/** Formats of others have the extension in one member. */
export const SVC_MEMBER = {
  ours: ["svc"],
  svcOf: (value: { readonly svc?: SvcBody | undefined }): SvcBody | undefined => value.svc,
};

/** The texts that a tokenizer counts: the JSON of all prompt members, an upper bound of their text. */
export const promptTextsOf = ({ bytes, members }: ClientRequest, noPrompt: readonly string[]): PromptText[] =>
  members
    .filter(({ key }) => !noPrompt.includes(key))
    .map(({ valueStart, valueEnd }) =>
      // A long text is decoded by its counter, in a thread.
      valueEnd - valueStart > LARGE_BODY_BYTES
        ? bytes.subarray(valueStart, valueEnd)
        : bytes.toString("utf8", valueStart, valueEnd),
    );

/** @param whole the text is the body itself, so errors name a position in it */
function parse(text: string, whole: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const at = whole ? /position (\d+)/.exec(error instanceof Error ? error.message : "")?.[1] : undefined;
    throw fail("invalid_json", `The body is not valid JSON${at === undefined ? "" : ` (near byte ${at})`}.`);
  }
}

/**
 * Validation stops at the first problem: only that one is told, and to describe a million wrong values would take seconds. zod has
 * `abortEarly` for its own use and does not document it. A release of zod without it fails the tests of hostile bodies.
 */
const UP_TO_THE_FIRST: z.core.ParseContextInternal<z.core.$ZodIssue> = Object.freeze({ abortEarly: true });

function check<T extends AnyBody>(
  value: Readonly<Record<string, unknown>>,
  members: readonly Member[],
  { schema, isUsual }: BodyRules<T>,
): T {
  if ("models" in value) {
    throw fail("unsupported_option", "Model fallback lists are not offered: one model a request.", {
      param: "/models",
    });
  }
  if (typeof value.model === "string" && value.model.length > MAX_MODEL_NAME) {
    throw fail("invalid_value", `/model is longer than ${MAX_MODEL_NAME} characters.`, { param: "/model" });
  }
  refuseLongLists(value, members);
  if (isUsual?.(value)) return value;
  const parsed = schema.safeParse(value, UP_TO_THE_FIRST);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  if (issue === undefined) throw fail("invalid_value", "The body is no request of this format.");
  if (issue.code === "unrecognized_keys") {
    const pointer = pointerTo([...issue.path, issue.keys[0] ?? ""]);
    const known = optionsAt(schema, issue.path);
    const hint = known.length > 0 ? ` Known ones: ${known.join(", ")}.` : "";
    throw fail("invalid_value", `Unknown option at ${pointer}.${hint}`, { param: pointer });
  }
  const pointer = pointerTo(issue.path);
  const missing = issue.code === "invalid_type" && issue.input === undefined && !present(value, issue.path);
  throw fail("invalid_value", missing ? `${pointer} is required.` : `${pointer}: ${issue.message}.`, {
    param: pointer,
  });
}

/** The members that the object at a place of a body may have; none where its schema is not known by them. */
function optionsAt(schema: unknown, path: readonly PropertyKey[]): readonly string[] {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema;
  if (!(inner instanceof z.ZodObject)) return [];
  const [first, ...rest] = path;
  return first === undefined ? Object.keys(inner.shape) : optionsAt(inner.shape[String(first)], rest);
}

/** A whole answer has nothing that could be sent to its client meanwhile. */
function waitsUnstreamed(ours: readonly string[]): WeirError {
  const param = ours.includes("svc") ? "/svc/hold_wait_ms" : "/hold_wait_ms";
  return fail("invalid_value", `${param} is for streams: set stream to true, or leave it out.`, { param });
}

/** The options for each provider as they were written. @throws WeirError `invalid_value` where one is named twice */
function optionTextsOf(
  text: string,
  members: readonly Member[],
  ours: readonly string[],
): SvcOptions["providerOptions"] {
  const isApart = ours.includes("svc");
  const at = isApart ? "/svc" : "";
  const svc = isApart ? jsonAt(text, members, "svc") : text;
  const options = jsonAt(svc, isApart ? skim(svc, at).members : members, "provider_options");
  const each = skim(options, `${at}/provider_options`).members;
  return Object.fromEntries(
    each.map(({ key, valueStart, valueEnd }) => [utf8Of(key), utf8Of(options.slice(valueStart, valueEnd))]),
  );
}

function present(value: unknown, path: readonly PropertyKey[]): boolean {
  let at: unknown = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !(key in at)) return false;
    at = (at as Record<PropertyKey, unknown>)[key];
  }
  return true;
}

/** What leaves this file as text is read again from the bytes: the skeleton is latin1 and lacks its long strings. */
function inUtf8(
  value: unknown,
  bytes: Buffer,
  members: readonly Member[],
  ours: readonly string[],
): Readonly<Record<string, unknown>> {
  const body = value as Record<string, unknown>;
  const again = (member: Member) => parse(bytes.toString("utf8", member.valueStart, member.valueEnd), false);
  for (const key of ours) {
    const member = memberOf(members, key);
    if (member !== undefined) body[key] = again(member);
  }
  const { model } = body;
  // Empty: it was too long for the skeleton, or is what it seems.
  if (typeof model === "string" && (model === "" || utf8Of(model) !== model))
    body.model = again(memberOf(members, "model") as Member);
  return body;
}

function readSvc(
  svc: SvcBody,
  text: string,
  members: readonly Member[],
  ours: readonly string[],
): SvcOptions {
  if (svc.provider_options === undefined) return optionsOf(svc, NO_OPTIONS.providerOptions);
  const options = optionsOf(svc, optionTextsOf(text, members, ours));
  return ours.includes("svc") ? options : { ...options, optionsAt: "/provider_options" };
}

function optionsOf(svc: SvcBody, providerOptions: SvcOptions["providerOptions"]): SvcOptions {
  return {
    route: routeOptions(svc.route, svc.data_policy),
    app: svc.metadata?.app ?? "",
    userId: svc.metadata?.user_id ?? "",
    sessionId: svc.metadata?.session_id ?? "",
    tags: svc.metadata?.tags ?? {},
    strict: svc.compat?.strict ?? false,
    onDisconnect: svc.on_disconnect,
    hold: svc.hold,
    holdWaitMs: svc.hold_wait_ms ?? 0,
    providerOptions,
  };
}
