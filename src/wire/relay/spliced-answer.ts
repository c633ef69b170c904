/**
 * A whole answer of an upstream that speaks the client's own dialect: `id` and `model` are replaced, `svc` is added, and so
 * is `usage` where the upstream reported none; calls get what clients need of them. Every other byte is passed on unchanged.
 */
import { fail } from "../../base/errors.ts";
import type { Usage } from "../../base/usage.ts";
import type { AnswerIdentity, WholeAnswer } from "../format.ts";
import { append } from "../json/append.ts";
import { editedBytes, type Member, setMember, skim } from "../json/json.ts";
import { UNBOUNDED } from "../json/json-bounds.ts";
import { quotedId, quotedName } from "../json/quoted.ts";
import type { Report } from "../neutral/asked-extras.ts";
import type { ReplyFacts, UpstreamError } from "../neutral/contract.ts";
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
}

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
  const reply = readReplyText(bytes);
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
      const { text, members } = reply;
      const isReported = facts.usage !== undefined;
      const all = isReported ? others : { ...others, usage: JSON.stringify(reading.writeUsage(usage)) };
      const edits = [
        setMember(text, members, "id", quotedId(identity.id)),
        setMember(text, members, "model", quotedName(identity.model)),
      ];
      for (const key in all) edits.push(setMember(text, members, key, all[key] as string));
      edits.push(setMember(text, members, "svc", svcJson(svc)));
      if (ending?.hasOddCalls && reading.calls !== undefined) {
        append(edits, answerEdits(text, reading.calls, identity.requestId));
      }
      return editedBytes(bytes, edits, "latin1");
    },
  };
}

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

/** @throws WeirError `upstream_invalid_response` if the body is no JSON object. */
function readReplyText(bytes: Buffer): ReplyText {
  const text = bytes.toString("latin1");
  try {
    const { members, skeleton } = skim(text, "", UNBOUNDED, bytes);
    return { text, members, value: objectOf(JSON.parse(skeleton)) };
  } catch (cause) {
    throw fail("upstream_invalid_response", "The provider's answer is not valid JSON.", { cause });
  }
}
