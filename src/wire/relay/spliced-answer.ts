/**
 * A whole answer of an upstream that speaks the client's own dialect: `id` and `model` are replaced, `svc` is added, and so
 * is `usage` where the upstream reported none; calls get what clients need of them. Every other byte is passed on unchanged.
 */
import { fail } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, WholeAnswer } from "../format.ts";
import { append } from "../json/append.ts";
import { editedBytes } from "../json/edited-bytes.ts";
import { type Edit, type Member, setMember, skim } from "../json/json.ts";
import { UNBOUNDED } from "../json/json-bounds.ts";
import { quotedId, quotedName } from "../json/quoted.ts";
import type { Shape, Shapes } from "../json/shape.ts";
import { type Signs, signsOf } from "../json/signs.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { ReplyFacts, SvcReply, UpstreamError } from "../neutral/contract.ts";
import type { NeutralReply } from "../neutral/neutral.ts";
import { type JsonObject, objectOf } from "../neutral/reader.ts";
import { parseReply } from "../neutral/upstream-reply.ts";
import { svcJson } from "../svc.ts";
import { answerEdits, type CallForm } from "./call-edits.ts";
import { textBytesOf } from "./capture.ts";

export interface Ending extends Pick<ReplyFacts, "stopReason" | "toolCalls"> {
  /** A call has no id of its own, or arguments in another form than clients read. */
  readonly hasOddCalls?: boolean;
  /** The answer says that it is none. */
  readonly error?: UpstreamError | undefined;
}

/** What a dialect says in a whole answer. Every `value` is latin1, and its long strings are empty. */
export interface AnswerReading {
  /** The error that the answer is; undefined where it is none. */
  error(value: JsonObject, bytes: Buffer): UpstreamError | undefined;
  /** How the answer ended. @throws WeirError `upstream_invalid_response` where it is none of the dialect */
  ending(value: JsonObject): Ending;
  /** Undefined where the dialect has no calls. */
  readonly calls?: CallForm;
  /** @param value the member `usage` */
  usage(value: unknown): Usage | undefined;
  report(value: JsonObject): Report | undefined;
  /** @param body parsed in full */
  reply(body: unknown): NeutralReply;
  /** The member `usage`, for JSON.stringify. */
  writeUsage(usage: Usage): object;
  /**
   * Shapes of answers without calls, in which what the functions above read as strings are words. Absent: each answer is parsed. They may
   * keep nothing of a `value`.
   */
  readonly shapes?: Shapes;
}

/** Members that {@link splicedAnswer} sets of an answer that reports its usage: all that a shape must say of it. */
export const SET_MEMBERS: readonly string[] = ["id", "model", "svc"];

/**
 * @param others further members to set, JSON by name
 * @throws WeirError `upstream_invalid_response` where the body is no answer of the dialect
 */
export function splicedAnswer(
  bytes: Buffer,
  reading: AnswerReading,
  identity: AnswerIdentity,
  others?: Readonly<Record<string, string>>,
): WholeAnswer {
  const { shapes } = reading;
  const signs = signsOf(bytes);
  const shape = others === undefined ? shapes?.of(bytes, signs) : undefined;
  if (shape === undefined)
    return parsedAnswer(bytes, readReplyText(bytes, signs, shapes), reading, identity, others);
  const usual = usualAnswer(shape, bytes, reading, identity);
  // To look for an error may have been another scan.
  return usual ?? parsedAnswer(bytes, readReplyText(bytes, signsOf(bytes)), reading, identity, others);
}

function parsedAnswer(
  bytes: Buffer,
  reply: ReplyText,
  reading: AnswerReading,
  identity: AnswerIdentity,
  others?: Readonly<Record<string, string>>,
): WholeAnswer {
  let error = reading.error(reply.value, bytes);
  let ending: Ending | undefined;
  try {
    if (error === undefined) ending = reading.ending(reply.value);
  } catch (cause) {
    // The reason may be a long string, which that value lacks.
    error = reading.reply(parseReply(bytes)).error;
    if (error === undefined) throw cause;
  }
  const facts = ending === undefined ? NO_FACTS : factsOf(reply.value, ending, bytes, reading);
  return {
    facts,
    error: error ?? ending?.error ?? (ending?.stopReason === "other" ? oddError(bytes, reading) : undefined),
    write(usage, svc) {
      const isReported = facts.usage !== undefined;
      const all = isReported ? others : { ...others, usage: JSON.stringify(reading.writeUsage(usage)) };
      const made = edits(reply, identity, svc, all);
      if (ending?.hasOddCalls && reading.calls !== undefined) {
        append(made, answerEdits(reply.text, reading.calls, identity.requestId));
      }
      return editedBytes(bytes, made, "latin1");
    },
  };
}

/** @param all further members to set, JSON by name */
function edits(
  { text, members }: Pick<ReplyText, "text" | "members">,
  identity: AnswerIdentity,
  svc: SvcReply,
  all?: Readonly<Record<string, string>>,
): Edit[] {
  const id = setMember(text, members, "id", quotedId(identity.id));
  const model = setMember(text, members, "model", quotedName(identity.model));
  const extension = setMember(text, members, "svc", svcJson(svc));
  // A list that grows takes far more memory than one that is made with all it has.
  if (all === undefined) return [id, model, extension];
  const made = [id, model];
  for (const key in all) made.push(setMember(text, members, key, all[key] as string));
  made.push(extension);
  return made;
}

/**
 * An answer of a known shape that reports its usage and ended as answers do. Undefined: it is to be parsed, which tells what else it is.
 */
function usualAnswer(
  shape: Shape,
  bytes: Buffer,
  reading: AnswerReading,
  identity: AnswerIdentity,
): WholeAnswer | undefined {
  const value = shape.value as JsonObject;
  const members = shape.members();
  try {
    if (reading.error(value, bytes) !== undefined) return undefined;
    const { stopReason, toolCalls, error } = reading.ending(value);
    const usage = reading.usage(value.usage);
    if (error !== undefined || stopReason === "other" || toolCalls > 0 || usage === undefined)
      return undefined;
    const report = reading.report(value);
    const facts = { usage, stopReason, toolCalls, outputBytes: 0, unreportedBytes: 0, report };
    return reportedAnswer(facts, bytes, members, identity);
  } catch {
    return undefined;
  }
}

const reportedAnswer = (
  facts: ReplyFacts,
  bytes: Buffer,
  members: readonly Member[],
  identity: AnswerIdentity,
): WholeAnswer => ({
  facts,
  error: undefined,
  write: (_, svc) => editedBytes(bytes, edits({ text: "", members }, identity, svc), "latin1"),
});

/** The error that an answer with an odd reason to end is: that depends on what else it has. */
const oddError = (bytes: Buffer, reading: AnswerReading): UpstreamError | undefined =>
  reading.reply(parseReply(bytes)).error;

/** The facts of an answer that is an error. */
const NO_FACTS: ReplyFacts = Object.freeze({
  usage: undefined,
  stopReason: "",
  toolCalls: 0,
  outputBytes: 0,
  unreportedBytes: 0,
});

function factsOf(
  value: JsonObject,
  { stopReason, toolCalls }: Ending,
  bytes: Buffer,
  reading: AnswerReading,
): ReplyFacts {
  const usage = reading.usage(value.usage);
  // Counted in the whole body: the value that the other facts are read from has no long strings.
  const outputBytes = usage === undefined ? textBytesOf(reading.reply(parseReply(bytes))) : 0;
  const report = reading.report(value);
  return { usage, stopReason, toolCalls, outputBytes, unreportedBytes: outputBytes, report };
}

/** An upstream's whole answer and the positions of its members. */
interface ReplyText {
  /** latin1: one character a byte. */
  readonly text: string;
  readonly members: readonly Member[];
  /** Parsed, latin1 as well; long strings, which no fact needs, are empty. */
  readonly value: JsonObject;
}

/**
 * @param signs of the body, which was scanned last @param shapes that the body has none of
 * @throws WeirError `upstream_invalid_response` if the body is no JSON object.
 */
function readReplyText(bytes: Buffer, signs: Signs, shapes?: Shapes): ReplyText {
  const text = bytes.toString("latin1");
  try {
    const { members, skeleton } = skim(text, "", UNBOUNDED, bytes, signs);
    const value = objectOf(JSON.parse(skeleton));
    shapes?.learn(bytes, signs, () => JSON.parse(skeleton), members);
    return { text, members, value };
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}
