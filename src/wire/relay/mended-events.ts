/**
 * Events of a translated stream as clients can read them one by one. The halves of a character that was cut between two deltas are
 * put together, since clients decode each event by itself, halves that a call's arguments have as escapes are replaced, and control
 * characters in their strings become escapes. The first pieces of arguments wait while they may mean that the call has none: `null` or
 * white space, or the empty object that some servers send before the arguments. Arguments that begin as a string wait for their end.
 */
import { emptyObjects } from "../json/cut-object.ts";
import { Growing } from "../json/growing.ts";
import { beginsWithHalf, endsWithHalf, mayHaveHalf } from "../json/surrogates.ts";
import { fragmentOf, textOf } from "../neutral/fragment.ts";
import type { Fragment, StreamEvent } from "../neutral/neutral.ts";
import { partKey } from "../neutral/part-key.ts";
import type { Emit } from "../neutral/reader.ts";
import { argumentsText, isNoArguments } from "../neutral/tool-arguments.ts";
import { CallStrings } from "./call-strings.ts";
import { endedRest, withoutEscapedHalves } from "./escaped-halves.ts";

type Delta = Extract<StreamEvent, { type: "delta" }>;

const HALF_LENGTH = 6;
/** U+FFFD. */
const REPLACED: Fragment = fragmentOf("\ufffd");

/** How a piece of JSON text begins that is a string. */
const QUOTE: Fragment = '\\"';
/** Bytes of arguments that begin as a string: more are passed on as they come. */
const MAX_QUOTED = 1024 * 1024;

/** More white space than this is passed on. */
const MAX_UNDECIDED = 64;
/** White space in a piece of JSON text. */
const SPACE = "(?:\\s|\\\\[nrt])";
const UNDECIDED = new RegExp(
  `^${SPACE}*(?:n(?:u(?:ll?)?)?${SPACE}*|(?:\\{${SPACE}*\\}${SPACE}*)*(?:\\{${SPACE}*)?)$`,
);
const EMPTY_BEFORE = emptyObjects(SPACE);
/** What most arguments begin with leaves nothing undecided. */
const OBJECT_BEGUN: Fragment = '{\\"';

/** Whether an event must be taken. Streams without such an event, which most are, need no object of this kind. */
export const needsMending = (event: StreamEvent): boolean =>
  event.type === "delta" ? mayHaveHalf(event.text) : isFunctionCall(event);

const isFunctionCall = (event: StreamEvent): boolean =>
  event.type === "begin" && event.kind === "tool_call" && event.tool !== "custom";

/** The arguments of a call of a function. */
interface FunctionCall {
  /** The beginning of an escape that they ended with. */
  rest: Fragment;
  readonly strings: CallStrings;
}

const isOpen = ({ rest, strings }: FunctionCall): boolean => rest !== "" || strings.isEscaped;

export class MendedEvents {
  readonly #tell: Emit;
  /** The first half of a pair that each part's text ended with. */
  readonly #halves = new Map<number, Fragment>();
  /** What came of calls that have no arguments yet. */
  readonly #undecided = new Map<number, Fragment>();
  /** Arguments that begin as a string, in which models may have encoded an object once more. */
  readonly #quoted = new Map<number, Growing>();
  readonly #functions = new Map<number, FunctionCall>();
  /** How many of these ended within an escape. */
  #open = 0;
  /** A piece of an earlier delta is held back until the next event. */
  #isWaiting = false;

  /** A report came since the last call began. */
  #isReported = false;
  readonly #late: (tell: () => void) => void;

  /** @param late is given what ends a call behind the report: text that is told by it came before, or is the gateway's */
  constructor(tell: Emit, late: (tell: () => void) => void) {
    this.#tell = tell;
    this.#late = late;
  }

  /** Whether a delta can be told as it is. Asked of every delta. */
  #passes(text: Fragment): boolean {
    if (this.#isWaiting) return false;
    return this.#functions.size === 0 ? !mayHaveHalf(text) : !text.includes("\\");
  }

  take(event: StreamEvent): void {
    if (event.type !== "delta") this.#takeOther(event);
    else if (this.#passes(event.text)) this.#tell(event);
    else this.#delta(event);
    this.#isWaiting = this.#halves.size + this.#undecided.size + this.#quoted.size + this.#open > 0;
  }

  #takeOther(event: Exclude<StreamEvent, Delta>): void {
    if (event.type === "begin" && isFunctionCall(event)) {
      const key = partKey(event.choice, event.part);
      this.#undecided.set(key, "");
      this.#functions.set(key, { rest: "", strings: new CallStrings() });
      this.#isReported = false;
    } else if (event.type === "usage") {
      this.#isReported = true;
    }
    if (event.type !== "end") this.#tell(event);
    else if (this.#isReported) this.#late(() => this.#end(event));
    else this.#end(event);
  }

  #delta(event: Delta): void {
    const key = partKey(event.choice, event.part);
    if (event.text === "") {
      this.#decide(event, key);
      this.#tell(event);
      return;
    }
    const text = this.#withoutEscaped(this.#withoutHalves(event.text, key), key);
    const before = this.#undecided.get(key);
    if (this.#quoted.has(key)) {
      this.#quote(event, key, text);
      return;
    }
    if (before === undefined) {
      if (text !== "" || event.logprobs !== undefined) this.#tell({ ...event, text });
      return;
    }
    const all = before + text;
    if (all.startsWith(OBJECT_BEGUN)) {
      this.#undecided.delete(key);
      this.#tell({ ...event, text: all });
      return;
    }
    if (all.length < MAX_UNDECIDED && UNDECIDED.test(all)) {
      this.#undecided.set(key, all);
      return;
    }
    this.#undecided.delete(key);
    if (all.startsWith(QUOTE)) this.#quote(event, key, all);
    else this.#tell({ ...event, text: all.replace(EMPTY_BEFORE, "") });
  }

  #quote(event: Pick<Delta, "choice" | "part">, key: number, piece: Fragment): void {
    const quoted = this.#quoted.get(key) ?? new Growing();
    this.#quoted.set(key, quoted);
    quoted.add(piece);
    if (quoted.length > MAX_QUOTED) this.#endQuoted(event, key);
  }

  #endQuoted({ choice, part }: Pick<Delta, "choice" | "part">, key: number): void {
    const quoted = this.#quoted.get(key);
    if (quoted === undefined) return;
    this.#quoted.delete(key);
    const text = textOf(quoted.text());
    // Arguments beyond the bound, and those that are no valid string, are passed on as the upstream wrote them.
    const isRead = quoted.length <= MAX_QUOTED && text !== "";
    this.#tell({
      type: "delta",
      choice,
      part,
      text: isRead ? fragmentOf(argumentsText(text)) : quoted.text(),
    });
  }

  #withoutHalves(given: Fragment, key: number): Fragment {
    let text = given;
    const first = this.#halves.get(key);
    this.#halves.delete(key);
    if (beginsWithHalf(text)) {
      const second = text.slice(0, HALF_LENGTH);
      const whole = first === undefined ? REPLACED : fragmentOf(textOf(first + second));
      text = whole + text.slice(HALF_LENGTH);
    } else if (first !== undefined) {
      text = REPLACED + text;
    }
    if (!endsWithHalf(text)) return text;
    this.#halves.set(key, text.slice(-HALF_LENGTH));
    return text.slice(0, -HALF_LENGTH);
  }

  #withoutEscaped(given: Fragment, key: number): Fragment {
    const call = this.#functions.get(key);
    if (call === undefined) return given;
    const wasOpen = isOpen(call);
    const { text, rest } = withoutEscapedHalves(call.rest + call.strings.take(given));
    call.rest = rest;
    this.#open += Number(isOpen(call)) - Number(wasOpen);
    return text;
  }

  /** Nothing more comes of the call for a while. */
  #decide({ choice, part }: Pick<Delta, "choice" | "part">, key: number): void {
    this.#endQuoted({ choice, part }, key);
    const text = this.#undecided.get(key);
    if (text === undefined || text === "" || isNoArguments(textOf(text))) return;
    this.#undecided.delete(key);
    this.#tell({ type: "delta", choice, part, text: text.replace(EMPTY_BEFORE, "") });
  }

  #endRest({ choice, part }: Pick<Delta, "choice" | "part">, key: number): void {
    const call = this.#functions.get(key);
    if (call === undefined) return;
    this.#functions.delete(key);
    if (isOpen(call)) this.#open--;
    if (call.rest === "") return;
    const text = endedRest(call.rest);
    const undecided = this.#undecided.get(key);
    if (this.#quoted.has(key)) this.#quote({ choice, part }, key, text);
    else if (undecided === undefined) this.#tell({ type: "delta", choice, part, text });
    else this.#undecided.set(key, undecided + text);
  }

  #end(event: Extract<StreamEvent, { type: "end" }>): void {
    const { choice, part } = event;
    const key = partKey(choice, part);
    this.#endRest({ choice, part }, key);
    if (this.#halves.delete(key)) this.#tell({ type: "delta", choice, part, text: REPLACED });
    this.#decide({ choice, part }, key);
    if (this.#undecided.delete(key)) this.#tell({ type: "delta", choice, part, text: "{}" });
    this.#tell(event);
  }
}
