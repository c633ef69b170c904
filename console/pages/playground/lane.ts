/** One conversation with one model: its turns, the answer that comes now, and why the last one did not. */
import { signal } from "@preact/signals";
import { ApiError } from "../../api/call.ts";
import { generate } from "../../api/generate.ts";
import { type Answer, type Completed, GrowingAnswer, sendable } from "./answer.ts";
import { type Message, type Part, withProse } from "./message.ts";
import type { Body } from "./request.ts";

/** How an answer went. Times are as this browser saw them. */
export interface Result {
  readonly model: string;
  /** Empty where no answer came. */
  readonly requestId: string;
  /** Until the first piece of the answer; undefined: none came. */
  readonly firstMs: number | undefined;
  readonly wholeMs: number;
  readonly stop: string;
  /** Undefined where it was stopped or failed on its way. */
  readonly completed: Completed | undefined;
  /** The reader stopped it. */
  readonly isStopped: boolean;
  readonly cut: number;
}

export interface PlayTurn {
  readonly id: number;
  readonly message: Message;
  /** How the answer went, if it was made on this page. */
  readonly result?: Result;
}

/** Draws at most so often: a quick model leaves the page quick. */
const DRAW_MS = 100;

let lastId = 0;

export class Lane {
  readonly turns = signal<readonly PlayTurn[]>([]);
  /** What has come of the answer; undefined: none is coming. */
  readonly growing = signal<Answer | undefined>(undefined);
  readonly fault = signal<ApiError | undefined>(undefined);
  #asking: AbortController | undefined;

  get messages(): readonly Message[] {
    return this.turns.value.map(({ message }) => message);
  }

  add(message: Message, result?: Result): void {
    lastId += 1;
    const turn = { id: lastId, message, ...(result !== undefined && { result }) };
    this.turns.value = [...this.turns.value, turn];
  }

  /** Another conversation in the place of this one. */
  set(messages: readonly Message[]): void {
    this.#drop();
    this.turns.value = [];
    for (const message of messages) this.add(message);
  }

  remove(id: number): void {
    this.fault.value = undefined;
    this.turns.value = this.turns.value.filter((turn) => turn.id !== id);
  }

  edit(id: number, text: string): void {
    this.turns.value = this.turns.value.map((turn) =>
      turn.id === id ? { ...turn, message: withProse(turn.message, text) } : turn,
    );
  }

  /** Takes back all that was said after a turn. */
  returnTo(id: number): void {
    const at = this.turns.value.findIndex((turn) => turn.id === id);
    if (at >= 0) this.turns.value = this.turns.value.slice(0, at + 1);
  }

  /** The reader has seen enough: what has come stays. */
  stop(): void {
    this.#asking?.abort();
  }

  /** Asks for the next answer. Never throws. @param project whose key pays */
  async ask(body: Body, project: string): Promise<void> {
    this.#drop();
    const asking = new AbortController();
    this.#asking = asking;
    const growing = new GrowingAnswer();
    this.fault.value = undefined;
    this.growing.value = growing.answer;
    const began = performance.now();
    let firstMs: number | undefined;
    let requestId = "";
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isOver = () => this.#asking !== asking;
    const draw = () => {
      timer = undefined;
      if (!isOver()) this.growing.value = growing.answer;
    };
    let fault: ApiError | undefined;
    try {
      await generate({
        project,
        body,
        signal: asking.signal,
        onRequest: (id) => {
          requestId = id;
        },
        onEvents: (events) => {
          if (growing.take(events)) firstMs ??= performance.now() - began;
          timer ??= setTimeout(draw, DRAW_MS);
        },
      });
    } catch (error) {
      fault = faultOf(error, requestId);
    }
    clearTimeout(timer);
    if (isOver()) return;
    const { parts, stop, completed, cut } = growing.answer;
    const content = keptOf(parts, completed !== undefined);
    const isStopped = asking.signal.aborted;
    this.#asking = undefined;
    this.growing.value = undefined;
    this.fault.value = isStopped ? undefined : fault;
    if (content.length === 0 && completed === undefined) return;
    const wholeMs = performance.now() - began;
    this.add(
      { role: "assistant", content },
      { model: body.model, requestId, firstMs, wholeMs, stop, completed, isStopped, cut },
    );
  }

  /** What comes now is for nobody any more. */
  #drop(): void {
    this.#asking?.abort();
    this.#asking = undefined;
    this.growing.value = undefined;
    this.fault.value = undefined;
  }
}

/** A call of a tool that is not whole cannot be answered. */
const keptOf = (parts: readonly Part[], isWhole: boolean): readonly Part[] =>
  sendable(isWhole ? parts : parts.filter(({ type }) => type !== "tool_call"));

function faultOf(error: unknown, requestId: string): ApiError {
  if (!(error instanceof ApiError))
    return new ApiError(0, { message: String(error), code: "page" }, requestId);
  if (error.requestId !== "" || requestId === "") return error;
  const { message, code, param, details } = error;
  return new ApiError(error.status, { message, code, param, details }, requestId);
}
