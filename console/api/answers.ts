/**
 * Answers that a page shows, as signals: one that comes late never replaces a newer one, what is shown stays until there is something
 * newer, and what is not looked at any more is not waited for.
 */
import { batch, type ReadonlySignal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Answer, ApiError, call, type Input, type Name } from "./call.ts";

export interface Shown<T> {
  /** The newest answer; undefined before the first. It stays while a newer one is asked for. */
  readonly value: ReadonlySignal<T | undefined>;
  /** Why the newest question was not answered; undefined where it was. */
  readonly fault: ReadonlySignal<ApiError | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Asks again. It may be taken from its object, as a button does. */
  readonly refresh: () => void;
}

/** One question at a time: the one before is dropped, and its answer is not looked at. */
abstract class Asking {
  readonly fault = signal<ApiError | undefined>(undefined);
  readonly isBusy = signal(false);
  #asking: AbortController | undefined;

  protected run<T>(ask: (signal: AbortSignal) => Promise<T>, answered: (value: T) => void): void {
    this.drop();
    const asking = new AbortController();
    this.#asking = asking;
    this.isBusy.value = true;
    const end = (fault: ApiError | undefined) => {
      this.fault.value = fault;
      this.isBusy.value = false;
    };
    ask(asking.signal).then(
      (value) => {
        if (this.#asking !== asking) return;
        answered(value);
        end(undefined);
      },
      (error: unknown) => {
        if (this.#asking === asking) end(faultOf(error));
      },
    );
  }

  drop(): void {
    this.#asking?.abort();
    this.#asking = undefined;
    this.isBusy.value = false;
  }
}

class Question<T> extends Asking implements Shown<T> {
  readonly value = signal<T | undefined>(undefined);
  #ask: ((signal: AbortSignal) => Promise<T>) | undefined;

  ask(ask: (signal: AbortSignal) => Promise<T>): void {
    this.#ask = ask;
    this.refresh();
  }

  readonly refresh = (): void => {
    if (this.#ask === undefined) return;
    this.run(this.#ask, (value) => {
      this.value.value = value;
    });
  };
}

const faultOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, { message: String(error), code: "page" }, "");

/**
 * The answer of an operation, asked for again when the input changes.
 * @param input undefined: nothing is asked yet
 */
export function useAnswer<N extends Name>(name: N, input: Input<N> | undefined): Shown<Answer<N>> {
  const question = useMemo(() => new Question<Answer<N>>(), [name]);
  const key = input === undefined ? undefined : JSON.stringify(input);
  useEffect(() => {
    if (input !== undefined) question.ask((signal) => call(name, input, signal));
    return () => question.drop();
  }, [question, key]);
  return question;
}

/** What a list answers: a page, and how to ask for the next. */
interface PageAnswer {
  readonly data: readonly unknown[];
  readonly next_cursor?: string;
}

type ListName = {
  [N in Name]: Answer<N> extends PageAnswer ? N : never;
}[Name];
export type Row<N extends ListName> = Answer<N>["data"][number];

export interface ShownList<T, A = unknown> {
  readonly rows: ReadonlySignal<readonly T[]>;
  /** The newest page's answer, for what it says beside its rows; undefined before the first. */
  readonly answer: ReadonlySignal<A | undefined>;
  readonly fault: ReadonlySignal<ApiError | undefined>;
  readonly isBusy: ReadonlySignal<boolean>;
  /** Whether there are rows beyond those that are shown. */
  readonly hasMore: ReadonlySignal<boolean>;
  /** The first rows are not shown any more: one has read on too far for all of them. */
  readonly isCut: ReadonlySignal<boolean>;
  /** Whether the first page was answered. */
  readonly isThere: ReadonlySignal<boolean>;
  more(): void;
  /** Asks for the first page again. It may be taken from its object, as a button does. */
  readonly refresh: () => void;
}

/** Rows that a page shows: with more, opening a dialog takes a browser longer than one notices. Who reads on sees the last ones. */
const MOST_ROWS = 500;
/** Pages in a row without any: of 10,000 keys each, as a search looks at them. */
const MOST_EMPTY = 100;

type Ask = (cursor: string, signal: AbortSignal) => Promise<PageAnswer>;

class List<T, A> extends Asking implements ShownList<T, A> {
  readonly answer = signal<A | undefined>(undefined);
  readonly rows = signal<readonly T[]>([]);
  readonly hasMore = signal(false);
  readonly isCut = signal(false);
  readonly isThere = signal(false);
  #cursor = "";
  #ask: Ask | undefined;

  ask(ask: Ask): void {
    this.#ask = ask;
    this.refresh();
  }

  readonly refresh = (): void => this.#read("", []);

  more(): void {
    if (!this.isBusy.value && this.hasMore.value) this.#read(this.#cursor, this.rows.value);
  }

  /** @param before the rows that those of the answer follow */
  #read(cursor: string, before: readonly T[]): void {
    const ask = this.#ask;
    if (ask === undefined) return;
    this.run(
      (signal) => this.#found(ask, cursor, before, signal),
      (answer) => this.#show(answer, before),
    );
  }

  /** A search looks at a bounded number of rows for each page: where it finds none among them, it is gone on with. */
  async #found(ask: Ask, cursor: string, before: readonly T[], signal: AbortSignal): Promise<PageAnswer> {
    let page = await ask(cursor, signal);
    for (let empty = 1; empty < MOST_EMPTY; empty++) {
      const { data, next_cursor: next = "" } = page;
      if (data.length > 0 || next === "" || signal.aborted) break;
      this.#show(page, before);
      page = await ask(next, signal);
    }
    return page;
  }

  #show(page: PageAnswer, before: readonly T[]): void {
    const { data, next_cursor: next = "" } = page;
    const all = [...before, ...(data as readonly T[])];
    batch(() => {
      this.answer.value = page as A;
      this.#cursor = next;
      this.rows.value = all.slice(-MOST_ROWS);
      this.isCut.value = all.length > MOST_ROWS || (before.length > 0 && this.isCut.value);
      this.hasMore.value = next !== "";
      this.isThere.value = true;
    });
  }
}

/** The rows of a paged operation, the first page at once. @param input without a cursor; undefined: nothing is asked yet */
export function usePages<N extends ListName>(
  name: N,
  input: Input<N> | undefined,
): ShownList<Row<N>, Answer<N>> {
  const list = useMemo(() => new List<Row<N>, Answer<N>>(), [name]);
  const key = input === undefined ? undefined : JSON.stringify(input);
  useEffect(() => {
    if (input !== undefined) {
      list.ask(async (cursor, signal) => {
        const { query } = input as { query?: object };
        const next = { ...input, query: { ...query, cursor } } as Input<N>;
        return (await call(name, next, signal)) as PageAnswer;
      });
    }
    return () => list.drop();
  }, [list, key]);
  return list;
}
